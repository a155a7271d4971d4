const e=/* @__PURE__ */ BigInt(2**32-1),t=/* @__PURE__ */ BigInt(32);function n(n,r=!1){return r?{h:Number(n&e),l:Number(n>>t&e)}:{h:Number(n>>t&e)|0,l:Number(n&e)|0}}function r(e,t=!1){let r=e.length,i=new Uint32Array(r),a=new Uint32Array(r);for(let o=0;o<r;o++){let{h:r,l:s}=n(e[o],t);[i[o],a[o]]=[r,s]}return[i,a]}const i=e=>e/2**32|0,a=e=>e>>>0;function o(e,t,n,r){let o=i(n),s=a(n);e.setUint32(t,r?s:o,r),e.setUint32(t+4,r?o:s,r)}const s=(e,t,n)=>e>>>n,c=(e,t,n)=>e<<32-n|t>>>n,l=(e,t,n)=>e>>>n|t<<32-n,u=(e,t,n)=>e<<32-n|t>>>n,d=(e,t,n)=>e<<64-n|t>>>n-32,f=(e,t,n)=>e>>>n-32|t<<64-n;function p(e,t,n,r){let i=(t>>>0)+(r>>>0);return{h:e+n+(i/2**32|0)|0,l:i|0}}const m=(e,t,n)=>(e>>>0)+(t>>>0)+(n>>>0),h=(e,t,n,r)=>t+n+r+(e/2**32|0)|0,g=(e,t,n,r)=>(e>>>0)+(t>>>0)+(n>>>0)+(r>>>0),ee=(e,t,n,r,i)=>t+n+r+i+(e/2**32|0)|0,te=(e,t,n,r,i)=>(e>>>0)+(t>>>0)+(n>>>0)+(r>>>0)+(i>>>0),ne=(e,t,n,r,i,a)=>t+n+r+i+a+(e/2**32|0)|0;function _(e){return e instanceof Uint8Array||ArrayBuffer.isView(e)&&e.constructor.name===`Uint8Array`&&`BYTES_PER_ELEMENT`in e&&e.BYTES_PER_ELEMENT===1}const re=e=>e?`"${e}" `:``;function v(e,t=``){if(typeof e!=`number`)throw TypeError(re(t)+`expected number, got `+typeof e);if(!Number.isSafeInteger(e)||e<0)throw RangeError(re(t)+`expected integer >= 0, got `+e);return e}function y(e,t,n=``){if(_(e)&&(t===void 0||e.length===t))return e;t!==void 0&&v(t,`length`);let r=_(e),i=t===void 0?``:` of length ${t}`,a=r?`length=${e.length}`:`type=${typeof e}`,o=re(n)+`expected Uint8Array`+i+`, got `+a;throw r?RangeError(o):TypeError(o)}function b(e){if(typeof e!=`function`||typeof e.create!=`function`)throw TypeError(`expected hash wrapped by utils.createHasher`);if(v(e.outputLen),v(e.blockLen),e.outputLen<1||e.blockLen<1)throw Error(`hash blockLen / outputLen must be >= 1`)}const ie=(e,t)=>{if(typeof e!=`object`||!e||Array.isArray(e))throw TypeError((t===`object`?``:`"${t}" `)+`expected object, got type=`+typeof e)},ae=(e,t)=>{ie(e,t);let n=Object.getPrototypeOf(e);if(n!==Object.prototype&&n!==null)throw TypeError(`"${t}" expected plain object`);if(Object.hasOwn(e,`__proto__`))throw TypeError(`"${t}.__proto__" is not allowed`)};function x(e,t=!0){if(e.destroyed)throw Error(`hash was destroyed`);if(t&&e.finished)throw Error(`digest() was already called`)}function S(e,t){y(e,void 0,`output`);let n=t.outputLen;if(!(e.length>=n))throw RangeError(`"output" expected length >= `+n)}function C(...e){for(let t=0;t<e.length;t++)e[t].fill(0)}function oe(e){return new DataView(e.buffer,e.byteOffset,e.byteLength)}function w(e,t){return e<<32-t|e>>>t}const se=typeof Uint8Array.from([]).toHex==`function`&&typeof Uint8Array.fromHex==`function`,T=/* @__PURE__ */ Array.from({length:256},(e,t)=>t.toString(16).padStart(2,`0`));function ce(e){if(y(e),se)return e.toHex();let t=``;for(let n=0;n<e.length;n++)t+=T[e[n]];return t}function le(e){return e>=48&&e<=57?e-48:e>=65&&e<=70?e-55:e>=97&&e<=102?e-87:void 0}function ue(e){if(typeof e!=`string`)throw TypeError(`hex string expected, got `+typeof e);if(se)try{return Uint8Array.fromHex(e)}catch(e){throw e instanceof SyntaxError?RangeError(e.message):e}let t=e.length,n=t/2;if(t%2)throw RangeError(`hex string expected, got unpadded hex of length `+t);let r=new Uint8Array(n);for(let t=0,i=0;t<n;t++,i+=2){let n=le(e.charCodeAt(i)),a=le(e.charCodeAt(i+1));if(n===void 0||a===void 0){let t=e[i]+e[i+1];throw RangeError(`hex string expected, got non-hex character "`+t+`" at index `+i)}r[t]=n*16+a}return r}function de(...e){let t=0;for(let n=0;n<e.length;n++){let r=e[n];y(r),t+=r.length}let n=new Uint8Array(t);for(let t=0,r=0;t<e.length;t++){let i=e[t];n.set(i,r),r+=i.length}return n}function fe(e,t,n=`opts`){return ae(e,`defaults`),t!==void 0&&ae(t,n),Object.assign(Object.create(null),e,t)}function pe(e,t={}){if(typeof e!=`function`)throw TypeError(`"hashCons" expected function, got type=`+typeof e);t=fe({},t,`info`);let n=(t,n)=>e(n).update(t).digest(),r=e(void 0);return n.outputLen=r.outputLen,n.blockLen=r.blockLen,n.canXOF=r.canXOF,n.create=t=>e(t),Object.assign(n,t),Object.freeze(n)}function me(e=32){v(e,`bytesLength`);let t=typeof globalThis==`object`?globalThis.crypto:null;if(typeof t?.getRandomValues!=`function`)throw Error(`crypto.getRandomValues must be defined`);if(e>65536)throw RangeError(`"bytesLength" expected <= 65536, got ${e}`);return t.getRandomValues(new Uint8Array(e))}const he=e=>({oid:Uint8Array.from([6,9,96,134,72,1,101,3,4,2,e])});function ge(e,t,n){return e&t^~e&n}function _e(e,t,n){return e&t^e&n^t&n}var ve=class{blockLen;outputLen;canXOF=!1;padOffset;isLE;buffer;view;finished=!1;length=0;pos=0;destroyed=!1;constructor(e,t,n,r){this.blockLen=e,this.outputLen=t,this.padOffset=n,this.isLE=r,this.buffer=new Uint8Array(e),this.view=oe(this.buffer)}update(e){x(this),y(e);let{view:t,buffer:n,blockLen:r}=this,i=e.length,a=!1;for(let o=0;o<i;){let s=Math.min(r-this.pos,i-o);if(s===r){let t=oe(e);for(;r<=i-o;o+=r)this.process(t,o);a=!0}else n.set(o===0&&s===i?e:e.subarray(o,o+s),this.pos),this.pos+=s,o+=s,this.pos===r&&(this.process(t,0),this.pos=0,a=!0)}return this.length+=e.length,a&&this.roundClean(),this}digestInto(e){x(this),S(e,this),this.finished=!0;let{buffer:t,view:n,blockLen:r,isLE:i}=this,{pos:a}=this;t[a++]=128,t.fill(0,a),this.padOffset>r-a&&(this.process(n,0),t.fill(0)),o(n,r-8,this.length*8,i),this.process(n,0),this.roundClean();let s=e===t?n:oe(e),c=this.outputLen,l=c/4,u=this.get();if(c%4||l>u.length)throw Error(`invalid outputLen`);for(let e=0;e<l;e++)s.setUint32(4*e,u[e],i)}digest(){let{buffer:e,outputLen:t}=this;this.digestInto(e);let n=e.slice(0,t);return this.destroy(),n}_cloneIntoMeta(e){let{buffer:t,length:n,finished:r,destroyed:i,pos:a}=this;return e.destroyed=i,e.finished=r,e.length=n,e.pos=a,a&&e.buffer.set(t),e}clone(){return this._cloneInto()}};const ye=/* @__PURE__ */ Uint32Array.from([1779033703,3144134277,1013904242,2773480762,1359893119,2600822924,528734635,1541459225]),be=/* @__PURE__ */ Uint32Array.from([1779033703,4089235720,3144134277,2227873595,1013904242,4271175723,2773480762,1595750129,1359893119,2917565137,2600822924,725511199,528734635,4215389547,1541459225,327033209]),xe=/* @__PURE__ */ Uint32Array.from([1116352408,1899447441,3049323471,3921009573,961987163,1508970993,2453635748,2870763221,3624381080,310598401,607225278,1426881987,1925078388,2162078206,2614888103,3248222580,3835390401,4022224774,264347078,604807628,770255983,1249150122,1555081692,1996064986,2554220882,2821834349,2952996808,3210313671,3336571891,3584528711,113926993,338241895,666307205,773529912,1294757372,1396182291,1695183700,1986661051,2177026350,2456956037,2730485921,2820302411,3259730800,3345764771,3516065817,3600352804,4094571909,275423344,430227734,506948616,659060556,883997877,958139571,1322822218,1537002063,1747873779,1955562222,2024104815,2227730452,2361852424,2428436474,2756734187,3204031479,3329325298]),Se=/* @__PURE__ */ new Uint32Array(64);var Ce=class extends ve{A=0;B=0;C=0;D=0;E=0;F=0;G=0;H=0;constructor(e,t){super(64,e,8,!1),this.A=t[0]|0,this.B=t[1]|0,this.C=t[2]|0,this.D=t[3]|0,this.E=t[4]|0,this.F=t[5]|0,this.G=t[6]|0,this.H=t[7]|0}get(){let{A:e,B:t,C:n,D:r,E:i,F:a,G:o,H:s}=this;return[e,t,n,r,i,a,o,s]}set(e,t,n,r,i,a,o,s){this.A=e|0,this.B=t|0,this.C=n|0,this.D=r|0,this.E=i|0,this.F=a|0,this.G=o|0,this.H=s|0}_cloneInto(e){return(e||=new this.constructor).set(...this.get()),this._cloneIntoMeta(e)}process(e,t){for(let n=0;n<16;n++,t+=4)Se[n]=e.getUint32(t,!1);for(let e=16;e<64;e++){let t=Se[e-15],n=Se[e-2],r=w(t,7)^w(t,18)^t>>>3,i=w(n,17)^w(n,19)^n>>>10;Se[e]=i+Se[e-7]+r+Se[e-16]|0}let{A:n,B:r,C:i,D:a,E:o,F:s,G:c,H:l}=this;for(let e=0;e<64;e++){let t=w(o,6)^w(o,11)^w(o,25),u=l+t+ge(o,s,c)+xe[e]+Se[e]|0,d=(w(n,2)^w(n,13)^w(n,22))+_e(n,r,i)|0;l=c,c=s,s=o,o=a+u|0,a=i,i=r,r=n,n=u+d|0}n=n+this.A|0,r=r+this.B|0,i=i+this.C|0,a=a+this.D|0,o=o+this.E|0,s=s+this.F|0,c=c+this.G|0,l=l+this.H|0,this.set(n,r,i,a,o,s,c,l)}roundClean(){C(Se)}destroy(){this.destroyed=!0,this.set(0,0,0,0,0,0,0,0),C(this.buffer)}},we=class extends Ce{constructor(){super(32,ye)}};const Te=/* @__PURE__ */ r((/* @__PURE__ */ `0x428a2f98d728ae22.0x7137449123ef65cd.0xb5c0fbcfec4d3b2f.0xe9b5dba58189dbbc.0x3956c25bf348b538.0x59f111f1b605d019.0x923f82a4af194f9b.0xab1c5ed5da6d8118.0xd807aa98a3030242.0x12835b0145706fbe.0x243185be4ee4b28c.0x550c7dc3d5ffb4e2.0x72be5d74f27b896f.0x80deb1fe3b1696b1.0x9bdc06a725c71235.0xc19bf174cf692694.0xe49b69c19ef14ad2.0xefbe4786384f25e3.0x0fc19dc68b8cd5b5.0x240ca1cc77ac9c65.0x2de92c6f592b0275.0x4a7484aa6ea6e483.0x5cb0a9dcbd41fbd4.0x76f988da831153b5.0x983e5152ee66dfab.0xa831c66d2db43210.0xb00327c898fb213f.0xbf597fc7beef0ee4.0xc6e00bf33da88fc2.0xd5a79147930aa725.0x06ca6351e003826f.0x142929670a0e6e70.0x27b70a8546d22ffc.0x2e1b21385c26c926.0x4d2c6dfc5ac42aed.0x53380d139d95b3df.0x650a73548baf63de.0x766a0abb3c77b2a8.0x81c2c92e47edaee6.0x92722c851482353b.0xa2bfe8a14cf10364.0xa81a664bbc423001.0xc24b8b70d0f89791.0xc76c51a30654be30.0xd192e819d6ef5218.0xd69906245565a910.0xf40e35855771202a.0x106aa07032bbd1b8.0x19a4c116b8d2d0c8.0x1e376c085141ab53.0x2748774cdf8eeb99.0x34b0bcb5e19b48a8.0x391c0cb3c5c95a63.0x4ed8aa4ae3418acb.0x5b9cca4f7763e373.0x682e6ff3d6b2b8a3.0x748f82ee5defb2fc.0x78a5636f43172f60.0x84c87814a1f0ab72.0x8cc702081a6439ec.0x90befffa23631e28.0xa4506cebde82bde9.0xbef9a3f7b2c67915.0xc67178f2e372532b.0xca273eceea26619c.0xd186b8c721c0c207.0xeada7dd6cde0eb1e.0xf57d4f7fee6ed178.0x06f067aa72176fba.0x0a637dc5a2c898a6.0x113f9804bef90dae.0x1b710b35131c471b.0x28db77f523047d84.0x32caab7b40c72493.0x3c9ebe0a15c9bebc.0x431d67c49c100d4c.0x4cc5d4becb3e42b6.0x597f299cfc657e2a.0x5fcb6fab3ad6faec.0x6c44198c4a475817`.split(`.`)).map(e=>BigInt(e))),Ee=Te[0],De=Te[1],Oe=/* @__PURE__ */ new Uint32Array(80),ke=/* @__PURE__ */ new Uint32Array(80);var Ae=class extends ve{Ah=0;Al=0;Bh=0;Bl=0;Ch=0;Cl=0;Dh=0;Dl=0;Eh=0;El=0;Fh=0;Fl=0;Gh=0;Gl=0;Hh=0;Hl=0;constructor(e,t){super(128,e,16,!1),this.Ah=t[0]|0,this.Al=t[1]|0,this.Bh=t[2]|0,this.Bl=t[3]|0,this.Ch=t[4]|0,this.Cl=t[5]|0,this.Dh=t[6]|0,this.Dl=t[7]|0,this.Eh=t[8]|0,this.El=t[9]|0,this.Fh=t[10]|0,this.Fl=t[11]|0,this.Gh=t[12]|0,this.Gl=t[13]|0,this.Hh=t[14]|0,this.Hl=t[15]|0}get(){let{Ah:e,Al:t,Bh:n,Bl:r,Ch:i,Cl:a,Dh:o,Dl:s,Eh:c,El:l,Fh:u,Fl:d,Gh:f,Gl:p,Hh:m,Hl:h}=this;return[e,t,n,r,i,a,o,s,c,l,u,d,f,p,m,h]}set(e,t,n,r,i,a,o,s,c,l,u,d,f,p,m,h){this.Ah=e|0,this.Al=t|0,this.Bh=n|0,this.Bl=r|0,this.Ch=i|0,this.Cl=a|0,this.Dh=o|0,this.Dl=s|0,this.Eh=c|0,this.El=l|0,this.Fh=u|0,this.Fl=d|0,this.Gh=f|0,this.Gl=p|0,this.Hh=m|0,this.Hl=h|0}_cloneInto(e){return(e||=new this.constructor).set(...this.get()),this._cloneIntoMeta(e)}process(e,t){for(let n=0;n<16;n++,t+=4)Oe[n]=e.getUint32(t),ke[n]=e.getUint32(t+=4);for(let e=16;e<80;e++){let t=Oe[e-15]|0,n=ke[e-15]|0,r=l(t,n,1)^l(t,n,8)^s(t,n,7),i=u(t,n,1)^u(t,n,8)^c(t,n,7),a=Oe[e-2]|0,o=ke[e-2]|0,p=l(a,o,19)^d(a,o,61)^s(a,o,6),m=u(a,o,19)^f(a,o,61)^c(a,o,6),h=g(i,m,ke[e-7],ke[e-16]),te=ee(h,r,p,Oe[e-7],Oe[e-16]);Oe[e]=te|0,ke[e]=h|0}let{Ah:n,Al:r,Bh:i,Bl:a,Ch:o,Cl:_,Dh:re,Dl:v,Eh:y,El:b,Fh:ie,Fl:ae,Gh:x,Gl:S,Hh:C,Hl:oe}=this;for(let e=0;e<80;e++){let t=l(y,b,14)^l(y,b,18)^d(y,b,41),s=u(y,b,14)^u(y,b,18)^f(y,b,41),c=y&ie^~y&x,g=b&ae^~b&S,ee=te(oe,s,g,De[e],ke[e]),w=ne(ee,C,t,c,Ee[e],Oe[e]),se=ee|0,T=l(n,r,28)^d(n,r,34)^d(n,r,39),ce=u(n,r,28)^f(n,r,34)^f(n,r,39),le=n&i^n&o^i&o,ue=r&a^r&_^a&_;C=x|0,oe=S|0,x=ie|0,S=ae|0,ie=y|0,ae=b|0,{h:y,l:b}=p(re|0,v|0,w|0,se|0),re=o|0,v=_|0,o=i|0,_=a|0,i=n|0,a=r|0;let de=m(se,ce,ue);n=h(de,w,T,le),r=de|0}({h:n,l:r}=p(this.Ah|0,this.Al|0,n|0,r|0)),{h:i,l:a}=p(this.Bh|0,this.Bl|0,i|0,a|0),{h:o,l:_}=p(this.Ch|0,this.Cl|0,o|0,_|0),{h:re,l:v}=p(this.Dh|0,this.Dl|0,re|0,v|0),{h:y,l:b}=p(this.Eh|0,this.El|0,y|0,b|0),{h:ie,l:ae}=p(this.Fh|0,this.Fl|0,ie|0,ae|0),{h:x,l:S}=p(this.Gh|0,this.Gl|0,x|0,S|0),{h:C,l:oe}=p(this.Hh|0,this.Hl|0,C|0,oe|0),this.set(n,r,i,a,o,_,re,v,y,b,ie,ae,x,S,C,oe)}roundClean(){C(Oe,ke)}destroy(){this.destroyed=!0,C(this.buffer),this.set(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)}},je=class extends Ae{constructor(){super(64,be)}};const Me=/* @__PURE__ */ pe(()=>new we,/* @__PURE__ */ he(1)),Ne=/* @__PURE__ */ pe(()=>new je,/* @__PURE__ */ he(3));
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
function Pe(e,t,n=()=>{}){if(!Array.isArray(e))throw TypeError(`"${t}" expected array, got type=${typeof e}`);for(let r=0;r<e.length;r++)n(e[r],`${t}[${r}]`);return e}const E=(e,t,n)=>y(e,t,n),Fe=v;function Ie(e,t=``){if(typeof e!=`string`){let n=t&&`"${t}" `;throw TypeError(n+`expected string, got type=`+typeof e)}return e}function Le(e,t=`object`){if(typeof e!=`object`||!e||Array.isArray(e))throw TypeError(t===`object`?`expected valid options object`:`"${t}" expected object, got type=${typeof e}`);return e}function Re(e,t){if(typeof e!=`function`)throw TypeError(`"${t}" is invalid: expected function, got ${typeof e}`);return e}const ze=ce,Be=(...e)=>de(...e),Ve=e=>ue(e),He=_,Ue=e=>me(e),We=/* @__PURE__ */ BigInt(0),Ge=/* @__PURE__ */ BigInt(1),Ke=e=>e?`"${e}" `:``;function qe(e,t=``){if(typeof e!=`boolean`)throw TypeError(Ke(t)+`expected boolean, got type=`+typeof e);return e}function Je(e){if(typeof e==`bigint`){if(!rt(e))throw RangeError(`positive bigint expected, got `+e)}else Fe(e);return e}function Ye(e,t=``){if(typeof e!=`number`){let n=t&&`"${t}" `;throw TypeError(n+`expected number, got type=`+typeof e)}if(!Number.isSafeInteger(e)){let n=t&&`"${t}" `;throw RangeError(n+`expected safe integer, got `+e)}}function Xe(e){let t=Je(e).toString(16);return t.length&1?`0`+t:t}function Ze(e){if(typeof e!=`string`)throw TypeError(`hex string expected, got `+typeof e);return e===``?We:BigInt(`0x`+e)}function Qe(e){return Ze(ce(e))}function $e(e){return Ze(ce(nt(y(e)).reverse()))}function et(e,t){if(v(t),t===0)throw Error(`zero output length is invalid`);e=Je(e);let n=t*2,r=e.toString(16);if(r.length>n)throw RangeError(`number is too large`);return ue(r.padStart(n,`0`))}function tt(e,t){return et(e,t).reverse()}function nt(e){return Uint8Array.from(E(e))}function rt(e){return typeof e==`bigint`&&We<=e}function it(e,t,n){return rt(e)&&rt(t)&&rt(n)&&t<=e&&e<n}function at(e,t,n,r){if(!it(t,n,r))throw RangeError(`expected valid `+e+`: `+n+` <= n < `+r+`, got `+t)}function ot(e){if(e<We)throw Error(`expected non-negative bigint, got `+e);return e===We?0:e.toString(2).length}const st=e=>(Ye(e,`n`),(Ge<<BigInt(e))-Ge);function ct(e,t,n){if(v(e,`hashLen`),v(t,`qByteLen`),typeof n!=`function`)throw TypeError(`hmacFn must be a function`);let r=e=>new Uint8Array(e),i=Uint8Array.of(),a=Uint8Array.of(0),o=Uint8Array.of(1),s=r(e),c=r(e),l=0,u=()=>{s.fill(1),c.fill(0),l=0},d=(...e)=>n(c,Be(s,...e)),f=(e=i)=>{c=d(a,e),s=d(),e.length!==0&&(c=d(o,e),s=d())},p=()=>{if(l++>=1e3)throw Error(`drbg: tried max amount of iterations`);let e=0,n=[];for(;e<t;){s=d();let t=s.slice();n.push(t),e+=s.length}return Be(...n)};return(e,t)=>{u(),f(e);let n;for(;(n=t(p()))===void 0;)f();return u(),n}}function lt(e,t={},n={},r=`object`){Le(e,r),Le(t,`fields`),Le(n,`optFields`);function i(t,n,i){let a=r===`object`?`param "${String(t)}"`:`"${r}.${String(t)}"`,o=e[t];if(!Object.hasOwn(e,t)&&(i?o!==void 0:n!==`function`))throw TypeError(`${a} is invalid: expected own property`);if(i&&o===void 0)return;let s=typeof o;if(s!==n||o===null)throw TypeError(`${a} is invalid: expected ${n}, got ${s}`)}let a=(e,t)=>Object.entries(e).forEach(([e,n])=>i(e,n,t));a(t,!1),a(n,!0)}
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
const D=/* @__PURE__ */ BigInt(0),O=/* @__PURE__ */ BigInt(1),ut=/* @__PURE__ */ BigInt(2),dt=/* @__PURE__ */ BigInt(3),ft=/* @__PURE__ */ BigInt(4),pt=/* @__PURE__ */ BigInt(5),mt=/* @__PURE__ */ BigInt(7),ht=/* @__PURE__ */ BigInt(8),gt=/* @__PURE__ */ BigInt(9),_t=/* @__PURE__ */ BigInt(15),vt=/* @__PURE__ */ BigInt(16),yt=/* @__PURE__ */ BigInt(`0x10000000000000000`);function k(e,t){if(t<=D)throw Error(`mod: expected positive modulus, got `+t);let n=e%t;return n>=D?n:t+n}function bt(e,t,n){if(n<=O)throw Error(`pow: expected modulus > 1, got `+n);if(typeof t!=`bigint`)throw TypeError(`invalid exponent: expected bigint, got `+typeof t);if(t<D)throw Error(`invalid exponent, negatives unsupported`);if(t===D)return O;if(t===O)return e;let r=e%n;if(r<D&&(r+=n),t<yt){let e=O;for(;t>D;)t&O&&(e=e*r%n),r=r*r%n,t>>=O;return e}let i=[];for(;t>D;)i.push(Number(t&_t)),t>>=ft;let a=Array(16);a[0]=O,a[1]=r;for(let e=2;e<16;e++)a[e]=a[e-1]*r%n;let o=a[i[i.length-1]];for(let e=i.length-2;e>=0;e--){o=o*o%n,o=o*o%n,o=o*o%n,o=o*o%n;let t=i[e];t!==0&&(o=o*a[t]%n)}return o}function A(e,t,n){if(n<=O)throw Error(`pow2: expected modulus > 1, got `+n);if(t<D)throw Error(`pow2: expected non-negative exponent, got `+t);let r=e;for(;t-->D;)r*=r,r%=n;return r}function xt(e,t){if(e===D)throw Error(`invert: expected non-zero number`);if(t<=O)throw Error(`invert: expected modulus > 1, got `+t);let n=k(e,t),r=t,i=D,a=O;for(;n!==D;){let e=r/n,t=r-n*e,o=i-a*e;r=n,n=t,i=a,a=o}if(r!==O)throw Error(`invert: does not exist`);return k(i,t)}function St(e,t){if(t<=O)throw Error(`invertCt: expected prime modulus > 1, got `+t);let n=k(e,t);if(n===D)throw Error(`invertCt: expected non-zero number`);let r=bt(n,t-ut,t);if(k(n*r,t)!==O)throw Error(`invertCt: does not exist`);return r}function Ct(e,t,n){let r=e;if(!r.eql(r.sqr(t),n))throw Error(`Cannot find square root`)}function wt(e,t){if((e&O)===D)throw Error(t+`: expected odd modulus, got `+e)}function Tt(e,t){let n=e,r=(n.ORDER+O)/ft,i=n.pow(t,r);return Ct(n,i,t),i}function Et(e,t){let n=e,r=(n.ORDER-pt)/ht,i=n.mul(t,ut),a=n.pow(i,r),o=n.mul(t,a),s=n.mul(n.mul(o,ut),a),c=n.mul(o,n.sub(s,n.ONE));return Ct(n,c,t),c}function Dt(e){let t=Lt(e),n=Ot(e),r=n(t,t.neg(t.ONE)),i=n(t,r),a=n(t,t.neg(r)),o=(e+mt)/vt;return((e,t)=>{let n=e,s=n.pow(t,o),c=n.mul(s,r),l=n.mul(s,i),u=n.mul(s,a),d=n.eql(n.sqr(c),t),f=n.eql(n.sqr(l),t);s=n.cmov(s,c,d),c=n.cmov(u,l,f);let p=n.eql(n.sqr(c),t),m=n.cmov(s,c,p);return Ct(n,m,t),m})}function Ot(e){if(e<dt)throw Error(`sqrt is not defined for small field`);wt(e,`tonelliShanks`);let t=e-O,n=0;for(;t%ut===D;)t/=ut,n++;let r=ut,i=Lt(e);for(;Nt(i,r)===1;)if(r++>1e3)throw Error(`Cannot find square root: probably non-prime P`);if(n===1)return Tt;let a=i.pow(r,t),o=(t+O)/ut;return function(e,r){let i=e;if(i.is0(r))return r;if(Nt(i,r)!==1)throw Error(`Cannot find square root`);let s=n,c=i.mul(i.ONE,a),l=i.pow(r,t),u=i.pow(r,o);for(;!i.eql(l,i.ONE);){if(i.is0(l))throw Error(`Cannot find square root: probably non-prime P`);let e=1,t=i.sqr(l);for(;!i.eql(t,i.ONE);)if(e++,t=i.sqr(t),e===s)throw Error(`Cannot find square root`);let n=O<<BigInt(s-e-1),r=i.pow(c,n);s=e,c=i.sqr(r),l=i.mul(l,c),u=i.mul(u,r)}return u}}function kt(e){return wt(e,`Fp.sqrt`),e%ft===dt?Tt:e%ht===pt?Et:e%vt===gt?Dt(e):Ot(e)}const At=[`create`,`isValid`,`is0`,`neg`,`inv`,`sqrt`,`sqr`,`eql`,`add`,`sub`,`mul`,`pow`,`div`,`addN`,`subN`,`mulN`,`sqrN`];function jt(e){if(Le(e,`field`),typeof e.ORDER!=`bigint`)throw TypeError(`param "ORDER" is invalid: expected bigint, got `+typeof e.ORDER);Ye(e.BYTES,`BYTES`),Ye(e.BITS,`BITS`);for(let t of At)Re(e[t],`field.`+t);if(e.BYTES<1||e.BITS<1)throw Error(`invalid field: expected BYTES/BITS > 0`);if(e.ORDER<=O)throw Error(`invalid field: expected ORDER > 1, got `+e.ORDER);return e}function Mt(e,t,n=!1){jt(e),Pe(t,`nums`),qe(n,`passZero`);let r=e,i=Array(t.length).fill(n?r.ZERO:void 0),a=t.reduce((e,t,n)=>r.is0(t)?e:(i[n]=e,r.mul(e,t)),r.ONE),o=r.inv(a);return t.reduceRight((e,t,n)=>r.is0(t)?e:(i[n]=r.mul(e,i[n]),r.mul(e,t)),o),i}function Nt(e,t){jt(e);let n=e;wt(n.ORDER,`FpLegendre`);let r=(n.ORDER-O)/ut,i=n.pow(t,r),a=n.eql(i,n.ONE),o=n.eql(i,n.ZERO),s=n.eql(i,n.neg(n.ONE));if(!a&&!o&&!s)throw Error(`invalid Legendre symbol result`);return a?1:o?0:-1}function Pt(e,t){if(t!==void 0&&Fe(t),e<=D)throw Error(`invalid n length: expected positive n, got `+e);if(t!==void 0&&t<1)throw Error(`invalid n length: expected positive bit length, got `+t);let n=ot(e);if(t!==void 0&&t<n)throw Error(`invalid n length: expected nBitLength (${t}) >= bitLen(n) (${n})`);let r=t===void 0?n:t;return{nBitLength:r,nByteLength:Math.ceil(r/8)}}const Ft=/* @__PURE__ */ new WeakMap;var It=class{ORDER;BITS;BYTES;isLE;ZERO=D;ONE=O;_lengths;_mod;constructor(e,t={}){if(e<=O)throw Error(`invalid field: expected ORDER > 1, got `+e);let n;this.isLE=!1,typeof t==`object`&&t&&(typeof t.BITS==`number`&&(n=t.BITS),typeof t.sqrt==`function`&&Object.defineProperty(this,"sqrt",{value:t.sqrt,enumerable:!0}),typeof t.isLE==`boolean`&&(this.isLE=t.isLE),t.allowedLengths&&(this._lengths=Object.freeze(t.allowedLengths.slice())),typeof t.modFromBytes==`boolean`&&(this._mod=t.modFromBytes));let{nBitLength:r,nByteLength:i}=Pt(e,n);if(i>2048)throw Error(`invalid field: expected ORDER of <= 2048 bytes`);this.ORDER=e,this.BITS=r,this.BYTES=i,Object.freeze(this)}create(e){return k(e,this.ORDER)}isValid(e){if(typeof e!=`bigint`)throw TypeError(`invalid field element: expected bigint, got `+typeof e);return D<=e&&e<this.ORDER}is0(e){return e===D}isValidNot0(e){return!this.is0(e)&&this.isValid(e)}isOdd(e){return(e&O)===O}neg(e){return k(-e,this.ORDER)}eql(e,t){return e===t}sqr(e){return k(e*e,this.ORDER)}add(e,t){return k(e+t,this.ORDER)}sub(e,t){return k(e-t,this.ORDER)}mul(e,t){return k(e*t,this.ORDER)}pow(e,t){return bt(e,t,this.ORDER)}div(e,t){return k(e*xt(t,this.ORDER),this.ORDER)}sqrN(e){return e*e}addN(e,t){return e+t}subN(e,t){return e-t}mulN(e,t){return e*t}inv(e){return xt(e,this.ORDER)}sqrt(e){let t=Ft.get(this);return t||Ft.set(this,t=kt(this.ORDER)),t(this,e)}toBytes(e){return this.isLE?tt(e,this.BYTES):et(e,this.BYTES)}fromBytes(e,t=!1){E(e);let{_lengths:n,BYTES:r,isLE:i,ORDER:a,_mod:o}=this;if(n){if(e.length<1||!n.includes(e.length)||e.length>r)throw Error(`Field.fromBytes: expected `+n+` bytes, got `+e.length);let t=new Uint8Array(r);t.set(e,i?0:t.length-e.length),e=t}if(e.length!==r)throw Error(`Field.fromBytes: expected `+r+` bytes, got `+e.length);let s=i?$e(e):Qe(e);if(o&&(s=k(s,a)),!t&&!this.isValid(s))throw Error(`invalid field element: outside of range 0..ORDER`);return s}invertBatch(e){return Mt(this,e,!0)}cmov(e,t,n){return qe(n,`condition`),n?t:e}};function Lt(e,t={}){return Object.freeze(It.prototype),new It(e,t)}function Rt(e){if(typeof e!=`bigint`)throw Error(`field order must be bigint`);if(e<=O)throw Error(`field order must be greater than 1`);let t=ot(e-O);return Math.ceil(t/8)}function zt(e){let t=Rt(e);return t+Math.ceil(t/2)}function Bt(e,t,n=!1){E(e);let r=e.length,i=Rt(t),a=Math.max(zt(t),16);if(r<a||r>1024)throw Error(`expected `+a+`-1024 bytes of input, got `+r);let o=k(n?$e(e):Qe(e),t-O)+O;return n?tt(o,i):et(o,i)}
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
const Vt=/* @__PURE__ */ BigInt(0),Ht=/* @__PURE__ */ BigInt(1),Ut=/* @__PURE__ */ BigInt(4),Wt=2**31;function Gt(e){let t=e;if(typeof t!=`function`)throw TypeError(`"Point" expected constructor, got type=`+typeof e);Re(t.fromAffine,`Point.fromAffine`),Re(t.fromBytes,`Point.fromBytes`),Re(t.fromHex,`Point.fromHex`),Le(t.BASE,`Point.BASE`),Le(t.ZERO,`Point.ZERO`),jt(t.Fp),jt(t.Fn)}function Kt(e,t){Gt(e),Xt(t,e);let n=Mt(e.Fp,t.map(e=>e.Z));return t.map((t,r)=>e.fromAffine(t.toAffine(n[r])))}function qt(e,t,n=1){if(!Number.isSafeInteger(e)||e<n||e>t)throw Error(`invalid window size, expected [`+n+`..`+t+`], got W=`+e)}function Jt(e,t){let n=e*(4*t+128);if(n>Wt)throw Error(`invalid window size: table would need ~`+Math.ceil(n/2**20)+` MiB, max `+Wt/2**20+` MiB`)}function Yt(e,t){if(e!==void 0){Re(e,`randomBytes`);try{let n=e(t);if(!He(n)||n.length!==t)return}catch{return}return e}}function Xt(e,t){Pe(e,`points`),e.forEach((e,n)=>{if(!(e instanceof t))throw Error(`invalid point at index `+n)})}function Zt(e,t,n){if(!Array.isArray(e))throw Error(`array of scalars expected`);e.forEach((e,r)=>{if(!(n===void 0?t.isValid(e):rt(e)&&e<n))throw Error(`invalid scalar at index `+r)})}const Qt=/* @__PURE__ */ new WeakMap;function $t(e){return Qt.get(e)||1}function en(e,t){let n=e.double(),r=[e];for(let e=1;e<t;e++)r.push(r[e-1].add(n));return r}function tn(e,t){let n=2**t,r=n/2,i=BigInt(n-1),a=[];for(;e>Vt;){let t=0;e&Ht&&(t=Number(e&i),t>=r&&(t-=n),e-=BigInt(t)),a.push(t),e>>=Ht}return a}function nn(e,t,n){let r=2**t,i=r/2,a=BigInt(r-1),o=BigInt(t),s=[];for(let t=0;t<n;t++){let t=Number(e&a);e>>=o,t>i&&(t-=r,e+=Ht),s.push(t)}if(e!==Vt)throw Error(`invalid wnaf`);return s}function rn(e,t,n){let r=0;for(let e of n)r=Math.max(r,e.length);let i=e;for(let e=r-1;e>=0;e--){e!==r-1&&(i=i.double());for(let r=0;r<n.length;r++){let a=n[r][e];if(a){let e=t[r][Math.abs(a)-1>>1];i=i.add(a<0?e.negate():e)}}}return i}var an=class{Point;BASE;ZERO;randomBytes;wnafPrecomputes=/* @__PURE__ */ new WeakMap;baseCanBeBlinded;bits;constructor(e,t){Gt(e),this.randomBytes=Yt(t,16),this.Point=e,this.BASE=e.BASE,this.ZERO=e.ZERO,this.bits=e.Fn.BITS}buildWnafTable(e,t,n){let r=Math.ceil(n/t)+1,i=2**(t-1),a=[],o=e;for(let e=0;e<r;e++){let e=o;for(let t=0;t<i;t++)a.push(e),e=e.add(o);o=a[a.length-1].double()}return{W:t,bits:n,windows:r,comp:a}}wnafCachedCT(e,t){let{W:n,windows:r,comp:i}=e,a=2**(n-1),o=nn(t,n,r),s=this.ZERO,c=this.BASE;for(let e=0;e<r;e++){let t=o[e],n=e*a,r=Math.abs(t)-1,l=i[n];for(let e=1;e<a;e++)l=e===r?i[n+e]:l;let u=l.negate();t===0?c=c.add(i[n]):s=s.add(t<0?u:l)}return{p:s,f:c}}getWnafPrecomputes(e,t,n,r){let i=this.wnafPrecomputes.get(t),a=i?.find(t=>t.W===e&&t.bits===n);return a||(a=this.buildWnafTable(t,e,n),typeof r==`function`&&(a={...a,comp:r(a.comp)}),i||(i=[],this.wnafPrecomputes.set(t,i)),i.push(a)),a}assertPoint(e){if(!(e instanceof this.Point))throw TypeError(`"point" expected Point instance, got type=`+typeof e)}validateMulInput(e,t){if(this.assertPoint(e),!it(t,Ht,this.Point.Fn.ORDER))throw Error(`invalid scalar`)}runCT(e,t,n,r){let i=$t(e);return i===1?this.fixedWindowCT(e,t,n):this.wnafCachedCT(this.getWnafPrecomputes(i,e,n,r),t)}mulCT(e,t,n){return this.validateMulInput(e,t),this.runCT(e,t,this.bits,n)}mulCTBlinded(e,t,n){if(this.validateMulInput(e,t),this.randomBytes===void 0)throw Error(`randomBytes is required for scalar blinding`);let r=this.Point.Fn.BITS+128,i=this.randomBytes(16);if(!He(i)||i.length!==16)throw Error(`randomBytes returned invalid byte array`);i[0]=i[0]&63|128;let a=t+Qe(i)*this.Point.Fn.ORDER;return this.runCT(e,a,r,n)}fixedWindowCT(e,t,n){let r=st(5),i=Array(32);i[0]=this.ZERO;for(let t=1;t<32;t++)i[t]=i[t-1].add(e);let a=Math.ceil(n/5),o=this.ZERO;for(let e=a-1;e>=0;e--){if(e!==a-1)for(let e=0;e<5;e++)o=o.double();let n=Number(t>>BigInt(e*5)&r),s=i[0];for(let e=1;e<32;e++)s=e===n?i[e]:s;o=o.add(s)}return{p:o,f:o}}shouldBlind(e,t){return this.randomBytes===void 0?!1:t===Ht||e===this.BASE&&(this.baseCanBeBlinded===void 0&&(this.baseCanBeBlinded=this.mulUnsafe(this.BASE,this.Point.Fn.ORDER).is0()),this.baseCanBeBlinded)}mulSecret(e,t,n,r){return this.shouldBlind(e,n)?this.mulCTBlinded(e,t,r):this.mulCT(e,t,r)}mulUnsafe(e,t,n){if(this.assertPoint(e),!rt(t))throw Error(`invalid scalar`);let r=$t(e);if(r===1||t>=this.Point.Fn.ORDER)return on(this.Point,[e],[t],!0);let i=this.getWnafPrecomputes(r,e,this.bits,n);return this.wnafCachedCT(i,t).p}setWindowSize(e,t){this.assertPoint(e),qt(t,this.bits),Jt((Math.ceil((this.bits+128)/t)+1)*2**(t-1),this.Point.Fp.BYTES),Qt.set(e,t),this.wnafPrecomputes.delete(e)}hasWindowSize(e){return $t(e)!==1}};function on(e,t,n,r=!1){if(Gt(e),Xt(t,e),qe(r,`allowOversized`),Zt(n,e.Fn,r?e.Fn.ORDER**Ut:void 0),t.length!==n.length)throw Error(`arrays of points and scalars must have equal length`);let i=t.map(e=>en(e,4)),a=n.map(e=>tn(e,4));return rn(e.ZERO,i,a)}function sn(e,t,n){if(t){if(t.ORDER!==e)throw Error(`Field.ORDER must match order: Fp == p, Fn == n`);return jt(t),t}return Lt(e,{isLE:n})}function cn(e,t,n={},r){if(e!==`weierstrass`&&e!==`edwards`)throw Error(`expected curve type "weierstrass" or "edwards"`);if(r===void 0&&(r=e===`edwards`),!t||typeof t!=`object`)throw Error(`expected valid ${e} CURVE object`);lt(n);for(let e of[`p`,`n`,`h`]){let n=t[e];if(!(rt(n)&&n!==Vt))throw Error(`CURVE.${e} must be positive bigint`)}let i=sn(t.p,n.Fp,r),a=sn(t.n,n.Fn,r),o=[`Gx`,`Gy`,`a`,e===`weierstrass`?`b`:`d`];for(let e of o)if(!i.isValid(t[e]))throw Error(`CURVE.${e} must be valid field element of CURVE.Fp`);return t=Object.freeze(Object.assign({},t)),{CURVE:t,Fp:i,Fn:a}}function ln(e,t){return function(n){let r=e(n);return{secretKey:r,publicKey:t(r)}}}var un=class{oHash;iHash;blockLen;outputLen;canXOF=!1;finished=!1;destroyed=!1;constructor(e,t){if(b(e),y(t,void 0,`key`),this.iHash=e.create(),typeof this.iHash.update!=`function`)throw Error(`expected Hash instance`);this.blockLen=this.iHash.blockLen,this.outputLen=this.iHash.outputLen;let n=this.blockLen,r=new Uint8Array(n);r.set(t.length>n?e.create().update(t).digest():t);for(let e=0;e<r.length;e++)r[e]^=54;this.iHash.update(r),this.oHash=e.create();for(let e=0;e<r.length;e++)r[e]^=106;this.oHash.update(r),C(r)}update(e){return x(this),this.iHash.update(e),this}digestInto(e){x(this),S(e,this),this.finished=!0;let t=e.subarray(0,this.outputLen);this.iHash.digestInto(t),this.oHash.update(t),this.oHash.digestInto(t),this.destroy()}digest(){let e=new Uint8Array(this.oHash.outputLen);return this.digestInto(e),e}_cloneInto(e){e||=Object.create(Object.getPrototypeOf(this),{});let{oHash:t,iHash:n,finished:r,destroyed:i,blockLen:a,outputLen:o,canXOF:s}=this;return e=e,e.finished=r,e.destroyed=i,e.blockLen=a,e.outputLen=o,e.canXOF=s,e.oHash=t._cloneInto(e.oHash),e.iHash=n._cloneInto(e.iHash),e}clone(){return this._cloneInto()}destroy(){this.destroyed=!0,this.oHash.destroy(),this.iHash.destroy()}};const dn=/* @__PURE__ */ (()=>{let e=((e,t,n)=>new un(e,t).update(n).digest());return e.create=(e,t)=>new un(e,t),e})(),fn=/* @__PURE__ */ BigInt(0),pn={Err:class extends Error{constructor(e=``){
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
super(e)}},_tlv:{encode:(e,t)=>{let{Err:n}=pn;if(Ye(e,`tag`),e<0||e>255)throw new n(`tlv.encode: wrong tag`);if(Ie(t,`data`),t.length&1)throw new n(`tlv.encode: unpadded data`);let r=t.length/2,i=Xe(r);if(i.length/2&128)throw new n(`tlv.encode: long form length too big`);let a=r>127?Xe(i.length/2|128):``;return Xe(e)+a+i+t},decode(e,t){let{Err:n}=pn;t=E(t,void 0,`DER data`);let r=0;if(e<0||e>255)throw new n(`tlv.decode: wrong tag`);if(t.length<2||t[r++]!==e)throw new n(`tlv.decode: wrong tlv`);let i=t[r++],a=!!(i&128),o=0;if(!a)o=i;else{let e=i&127;if(!e)throw new n(`tlv.decode(long): indefinite length not supported`);if(e>4)throw new n(`tlv.decode(long): byte length is too big`);let a=t.subarray(r,r+e);if(a.length!==e)throw new n(`tlv.decode: length bytes not complete`);if(a[0]===0)throw new n(`tlv.decode(long): zero leftmost byte`);for(let e of a)o=o<<8|e;if(r+=e,o<128)throw new n(`tlv.decode(long): not minimal encoding`)}let s=t.subarray(r,r+o);if(s.length!==o)throw new n(`tlv.decode: wrong value length`);return{v:s,l:t.subarray(r+o)}}},_int:{encode(e){let{Err:t}=pn;if(Je(e),e<fn)throw new t(`integer: negative integers are not allowed`);let n=Xe(e);if(Number.parseInt(n[0],16)&8&&(n=`00`+n),n.length&1)throw new t(`unexpected DER parsing assertion: unpadded hex`);return n},decode(e){let{Err:t}=pn;if(e.length<1)throw new t(`invalid signature integer: empty`);if(e[0]&128)throw new t(`invalid signature integer: negative`);if(e.length>1&&e[0]===0&&!(e[1]&128))throw new t(`invalid signature integer: unnecessary leading zero`);return Qe(e)}},toSig(e,t){let{Err:n,_int:r,_tlv:i}=pn;if(t!==void 0&&(Ye(t,`maxScalarBytes`),t<1))throw new n(`invalid signature: maxScalarBytes must be positive`);let a=E(e,void 0,`signature`),{v:o,l:s}=i.decode(48,a);if(s.length)throw new n(`invalid signature: left bytes after parsing`);let{v:c,l}=i.decode(2,o),{v:u,l:d}=i.decode(2,l);if(d.length)throw new n(`invalid signature: left bytes after parsing`);if(t!==void 0&&(c.length>t||u.length>t))throw new n(`invalid signature: integer too large`);return{r:r.decode(c),s:r.decode(u)}},hexFromSig(e){let{_tlv:t,_int:n}=pn;lt(e,{r:`bigint`,s:`bigint`},{},`sig`);let r=t.encode(2,n.encode(e.r))+t.encode(2,n.encode(e.s));return t.encode(48,r)}},mn=(Object.freeze(pn._tlv),Object.freeze(pn._int),Object.freeze(pn)),hn=(e,t)=>(e+(e>=0?t:-t)/xn)/t
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
;function gn(e,t,n){at(`scalar`,e,yn,n);let[[r,i],[a,o]]=t,s=hn(o*e,n),c=hn(-i*e,n),l=e-s*r-c*a,u=-s*i-c*o,d=l<yn,f=u<yn;d&&(l=-l),f&&(u=-u);let p=st(Math.ceil(ot(n)/2))+bn;if(l<yn||l>=p||u<yn||u>=p)throw Error(`splitScalar (endomorphism): failed for k`);return{k1neg:d,k1:l,k2neg:f,k2:u}}function _n(e){if(![`compact`,`recovered`,`der`].includes(e))throw Error(`Signature format must be "compact", "recovered", or "der"`);return e}function vn(e,t){lt(e);let n={};for(let r of Object.keys(t))n[r]=e[r]===void 0?t[r]:e[r];return qe(n.lowS,`lowS`),qe(n.prehash,`prehash`),n.format!==void 0&&_n(n.format),n}const yn=/* @__PURE__ */ BigInt(0),bn=/* @__PURE__ */ BigInt(1),xn=/* @__PURE__ */ BigInt(2),Sn=/* @__PURE__ */ BigInt(3),Cn=/* @__PURE__ */ BigInt(4);function wn(e,t={}){let n=cn(`weierstrass`,e,t),r=n.Fp,i=n.Fn,a=n.CURVE,{h:o,n:s}=a;lt(t,{},{allowInfinityPoint:`boolean`,clearCofactor:`function`,isTorsionFree:`function`,fromBytes:`function`,toBytes:`function`,endo:`object`,randomBytes:`function`});let{endo:c,allowInfinityPoint:l,clearCofactor:u,isTorsionFree:d,fromBytes:f,toBytes:p}=t,m=t.randomBytes===void 0?Ue:t.randomBytes;if(c&&(!r.is0(a.a)||typeof c.beta!=`bigint`||!Array.isArray(c.basises)))throw Error(`invalid endo: expected "beta": bigint and "basises": array`);let h=c?{beta:c.beta,basises:c.basises.map(e=>[...e])}:void 0,g=En(r,i);function ee(){if(!r.isOdd)throw Error(`compression is not supported: Field does not have .isOdd()`)}function te(e,t,n){if(t.is0()){if(!l)throw Error(`bad point: ZERO`);return Uint8Array.of(0)}let{x:i,y:a}=t.toAffine(),o=r.toBytes(i);if(qe(n,`isCompressed`),n){ee();let e=!r.isOdd(a);return Be(Tn(e),o)}return Be(Uint8Array.of(4),o,r.toBytes(a))}function ne(e){E(e,void 0,`Point`);let{publicKey:t,publicKeyUncompressed:n}=g,i=e.length,a=e[0],o=e.subarray(1);if(l&&i===1&&a===0)return{x:r.ZERO,y:r.ZERO};if(i===t&&(a===2||a===3)){let e=r.fromBytes(o);if(!r.isValid(e))throw Error(`bad point: is not on curve, wrong x`);let t=b(e),n;try{n=r.sqrt(t)}catch(e){let t=e instanceof Error?`: `+e.message:``;throw Error(`bad point: is not on curve, sqrt error`+t)}ee();let i=r.isOdd(n);return(a&1)==1!==i&&(n=r.neg(n)),{x:e,y:n}}if(i===n&&a===4){let e=r.BYTES,t=r.fromBytes(o.subarray(0,e)),n=r.fromBytes(o.subarray(e,e*2));if(!ie(t,n))throw Error(`bad point: is not on curve`);return{x:t,y:n}}throw Error(`bad point: got length ${i}, expected compressed=${t} or uncompressed=${n}`)}let _=p===void 0?te:p,re=f===void 0?ne:f,v=r.mul(a.b,Sn),y=r.is0(a.a)?e=>r.ZERO:e=>r.mul(a.a,e);function b(e){let t=r.sqr(e),n=r.mul(t,e);return r.add(r.add(n,r.mul(e,a.a)),a.b)}function ie(e,t){let n=r.sqr(t),i=b(e);return r.eql(n,i)}if(!ie(a.Gx,a.Gy))throw Error(`bad curve params: generator point`);let ae=r.mul(r.pow(a.a,Sn),Cn),x=r.mul(r.sqr(a.b),BigInt(27));if(r.is0(r.add(ae,x)))throw Error(`bad curve params: a or b`);function S(e,t,n=!1){if(!r.isValid(t)||n&&r.is0(t))throw Error(`bad point coordinate ${e}`);return typeof t==`object`&&t?r.create(t):t}function C(e){if(!(e instanceof T))throw Error(`Weierstrass Point expected`)}function oe(e){if(!h||!h.basises)throw Error(`no endo`);return gn(e,h.basises,i.ORDER)}function w(e,t,n,a){if(!i.isValid(a))throw RangeError(`invalid scalar: out of range`);if(h){let{k1neg:i,k1:o,k2neg:s,k2:c}=oe(a),l=new T(r.mul(n.X,h.beta),n.Y,n.Z);e.push(i?n.negate():n,s?l.negate():l),t.push(o,c)}else e.push(n),t.push(a)}let se=/* @__PURE__ */ new WeakSet;class T{static BASE=new T(a.Gx,a.Gy,r.ONE);static ZERO=new T(r.ZERO,r.ONE,r.ZERO);static Fp=r;static Fn=i;X;Y;Z;constructor(e,t,n){this.X=S(`x`,e),this.Y=S(`y`,t,!0),this.Z=S(`z`,n),Object.freeze(this)}static CURVE(){return a}static fromAffine(e){let{x:t,y:n}=e||{};if(!e||!r.isValid(t)||!r.isValid(n))throw Error(`invalid affine point`);if(e instanceof T)throw Error(`projective point not allowed`);return r.is0(t)&&r.is0(n)?T.ZERO:new T(t,n,r.ONE)}static fromBytes(e){let t=T.fromAffine(re(E(e,void 0,`point`)));return t.assertValidity(),t}static fromHex(e){return T.fromBytes(Ve(e))}get x(){return this.toAffine().x}get y(){return this.toAffine().y}precompute(e=6,t=!0){return le.setWindowSize(this,e),t||this.multiply(Sn),this}assertValidity(){let e=this;if(e.is0()){if(l&&r.is0(e.X)&&r.eql(e.Y,r.ONE)&&r.is0(e.Z))return;throw Error(`bad point: ZERO`)}if(se.has(e))return;let{x:t,y:n}=e.toAffine();if(!r.isValid(t)||!r.isValid(n))throw Error(`bad point: x or y not field elements`);if(!ie(t,n))throw Error(`bad point: equation left != right`);if(!e.isTorsionFree())throw Error(`bad point: not in prime-order subgroup`);se.add(e)}hasEvenY(){let{y:e}=this.toAffine();if(!r.isOdd)throw Error(`Field doesn't support isOdd`);return!r.isOdd(e)}equals(e){C(e);let{X:t,Y:n,Z:i}=this,{X:a,Y:o,Z:s}=e,c=r.eql(r.mul(t,s),r.mul(a,i)),l=r.eql(r.mul(n,s),r.mul(o,i));return c&&l}negate(){return new T(this.X,r.neg(this.Y),this.Z)}double(){let{X:e,Y:t,Z:n}=this,i=r.ZERO,a=r.ZERO,o=r.ZERO,s=r.mul(e,e),c=r.mul(t,t),l=r.mul(n,n),u=r.mul(e,t);return u=r.add(u,u),o=r.mul(e,n),o=r.add(o,o),i=y(o),a=r.mul(v,l),a=r.add(i,a),i=r.sub(c,a),a=r.add(c,a),a=r.mul(i,a),i=r.mul(u,i),o=r.mul(v,o),l=y(l),u=r.sub(s,l),u=y(u),u=r.add(u,o),o=r.add(s,s),s=r.add(o,s),s=r.add(s,l),s=r.mul(s,u),a=r.add(a,s),l=r.mul(t,n),l=r.add(l,l),s=r.mul(l,u),i=r.sub(i,s),o=r.mul(l,c),o=r.add(o,o),o=r.add(o,o),new T(i,a,o)}add(e){C(e);let{X:t,Y:n,Z:i}=this,{X:a,Y:o,Z:s}=e,c=r.ZERO,l=r.ZERO,u=r.ZERO,d=r.mul(t,a),f=r.mul(n,o),p=r.mul(i,s),m=r.add(t,n),h=r.add(a,o);m=r.mul(m,h),h=r.add(d,f),m=r.sub(m,h),h=r.add(t,i);let g=r.add(a,s);return h=r.mul(h,g),g=r.add(d,p),h=r.sub(h,g),g=r.add(n,i),c=r.add(o,s),g=r.mul(g,c),c=r.add(f,p),g=r.sub(g,c),u=y(h),c=r.mul(v,p),u=r.add(c,u),c=r.sub(f,u),u=r.add(f,u),l=r.mul(c,u),f=r.add(d,d),f=r.add(f,d),p=y(p),h=r.mul(v,h),f=r.add(f,p),p=r.sub(d,p),p=y(p),h=r.add(h,p),d=r.mul(f,h),l=r.add(l,d),d=r.mul(g,h),c=r.mul(m,c),c=r.sub(c,d),d=r.mul(m,f),u=r.mul(g,u),u=r.add(u,d),new T(c,l,u)}subtract(e){return C(e),this.add(e.negate())}is0(){return this.equals(T.ZERO)}multiply(e){if(!i.isValidNot0(e))throw RangeError(`invalid scalar: out of range`);let{p:t,f:n}=le.mulSecret(this,e,o,ce);return ce([t,n])[0]}multiplyUnsafe(e){let t=this,n=e;if(!i.isValid(n))throw RangeError(`invalid scalar: out of range`);if(n===yn||t.is0())return T.ZERO;if(n===bn)return t;if(le.hasWindowSize(this))return le.mulUnsafe(t,n,ce);let r=[],a=[];return w(r,a,t,n),on(T,r,a)}mulAddUnsafe(e,t,n){C(t);let r=[],i=[];return w(r,i,this,e),w(r,i,t,n),on(T,r,i)}toAffine(e){let t=this,n=e;if(n!=null&&!r.isValid(n))throw RangeError(`"invertedZ" expected valid field element`);let{X:i,Y:a,Z:o}=t;if(r.eql(o,r.ONE))return{x:i,y:a};let s=t.is0();n??=s?r.ONE:r.inv(o);let c=r.mul(i,n),l=r.mul(a,n),u=r.mul(o,n);if(s)return{x:r.ZERO,y:r.ZERO};if(!r.eql(u,r.ONE))throw Error(`invZ was invalid`);return{x:c,y:l}}isTorsionFree(){return o===bn?!0:d?d(T,this):le.mulUnsafe(this,s).is0()}clearCofactor(){return o===bn?this:u?u(T,this):this.multiplyUnsafe(o)}isSmallOrder(){return o===bn?this.is0():this.clearCofactor().is0()}toBytes(e=!0){return qe(e,`isCompressed`),this.assertValidity(),_(T,this,e)}toHex(e=!0){return ze(this.toBytes(e))}toString(){return`<Point ${this.is0()?`ZERO`:this.toHex()}>`}}let ce=e=>Kt(T,e),le=new an(T,m);return le.bits>=6&&T.BASE.precompute(6),Object.freeze(T.prototype),Object.freeze(T),T}function Tn(e){return Uint8Array.of(e?2:3)}function En(e,t){return{secretKey:t.BYTES,publicKey:1+e.BYTES,publicKeyUncompressed:1+2*e.BYTES,publicKeyHasPrefix:!0,signature:2*t.BYTES}}function Dn(e,t={}){Gt(e);let{Fn:n}=e,r=t.randomBytes===void 0?Ue:t.randomBytes,i=Object.assign(En(e.Fp,n),{seed:Math.max(zt(n.ORDER),16)});function a(e){try{let t=n.fromBytes(e);return n.isValidNot0(t)}catch{return!1}}function o(t,n){let{publicKey:r,publicKeyUncompressed:a}=i;try{let i=t.length;return n===!0&&i!==r||n===!1&&i!==a?!1:!e.fromBytes(t).is0()}catch{return!1}}function s(e){return e=e===void 0?r(i.seed):e,Bt(E(e,i.seed,`seed`),n.ORDER)}function c(t,r=!0){return e.BASE.multiply(n.fromBytes(t)).toBytes(r)}function l(e){let{secretKey:t,publicKey:r,publicKeyUncompressed:a}=i,o=n._lengths;if(!He(e))return;let s=E(e,void 0,`key`).length,c=s===r||s===a,l=s===t||!!o?.includes(s);if(!(c&&l))return c}function u(t,r,i=!0){if(l(t)===!0)throw Error(`first arg must be private key`);if(l(r)===!1)throw Error(`second arg must be public key`);let a=n.fromBytes(t),o=e.fromBytes(r);if(o.is0())throw Error(`invalid public key: point at infinity`);return o.multiply(a).toBytes(i)}let d={isValidSecretKey:a,isValidPublicKey:o,randomSecretKey:s},f=ln(s,c);return Object.freeze(d),Object.freeze(i),Object.freeze({getPublicKey:c,getSharedSecret:u,keygen:f,Point:e,utils:d,lengths:i})}function On(e,t,n={}){Gt(e);let r=t;b(r),lt(n,{},{hmac:`function`,lowS:`boolean`,randomBytes:`function`,bits2int:`function`,bits2int_modN:`function`});let i=Object.assign({},n),a=i.randomBytes===void 0?Ue:i.randomBytes,o=i.hmac===void 0?(e,t)=>dn(r,e,t):i.hmac,{Fp:s,Fn:c}=e,{ORDER:l,BITS:u}=c,d=zt(l),f=Yt(a,d),{keygen:p,getPublicKey:m,getSharedSecret:h,utils:g,lengths:ee}=Dn(e,i),te={prehash:!0,lowS:typeof i.lowS!=`boolean`||i.lowS,format:`compact`,extraEntropy:!1},ne=l*xn+bn<s.ORDER;function _(e){return e>l>>bn}function re(e,t){if(!c.isValidNot0(t))throw Error(`invalid signature ${e}: out of range 1..Point.Fn.ORDER`);return t}function v(){if(!s.isOdd)throw Error(`Field doesn't support isOdd`)}function y(e,t,n){return v(),(e===n?0:2)|Number(s.isOdd(t))}function ie(){if(ne)throw Error(`"recovered" sig type is not supported for cofactor >2 curves`)}function ae(e,t){_n(t);let n=ee.signature,r=t===`compact`?n:t===`recovered`?n+1:void 0;return E(e,r)}class x{r;s;recovery;constructor(e,t,n){if(this.r=re(`r`,e),this.s=re(`s`,t),n!=null){if(ie(),![0,1,2,3].includes(n))throw Error(`invalid recovery id`);this.recovery=n}Object.freeze(this)}static fromBytes(e,t=te.format){ae(e,t);let n;if(t===`der`){if(e.length>2*c.BYTES+16)throw new mn.Err(`invalid signature: DER signature too long`);let{r:t,s:n}=mn.toSig(E(e),c.BYTES+1);return new x(t,n)}t===`recovered`&&(n=e[0],t=`compact`,e=e.subarray(1));let r=ee.signature/2,i=e.subarray(0,r),a=e.subarray(r,r*2);return new x(c.fromBytes(i),c.fromBytes(a),n)}static fromHex(e,t){return this.fromBytes(Ve(e),t)}assertRecovery(){let{recovery:e}=this;if(e==null)throw Error(`invalid recovery id: must be present`);return e}addRecoveryBit(e){return new x(this.r,this.s,e)}recoverPublicKey(t){let{r:n,s:r}=this,i=this.assertRecovery(),a=i===2||i===3?n+l:n;if(!s.isValid(a))throw Error(`invalid recovery id: sig.r+curve.n != R.x`);let o=s.toBytes(a),u=e.fromBytes(Be(Tn(!(i&1)),o)),d=c.inv(a),f=C(E(t,void 0,`msgHash`)),p=c.create(-f*d),m=c.create(r*d),h=e.BASE.mulAddUnsafe(p,u,m);if(h.is0())throw Error(`invalid recovery: point at infinify`);return h.assertValidity(),h}hasHighS(){return _(this.s)}toBytes(e=te.format){if(_n(e),e===`der`)return Ve(mn.hexFromSig(this));let{r:t,s:n}=this,r=c.toBytes(t),i=c.toBytes(n);return e===`recovered`?(ie(),Be(Uint8Array.of(this.assertRecovery()),r,i)):Be(r,i)}toHex(e){return ze(this.toBytes(e))}}Object.freeze(x.prototype),Object.freeze(x);let S=i.bits2int===void 0?function(e){if(e.length>8192)throw Error(`input is too large`);let t=Qe(e),n=e.length*8-u;return n>0?t>>BigInt(n):t}:i.bits2int,C=i.bits2int_modN===void 0?function(e){return c.create(S(e))}:i.bits2int_modN,oe=st(u);function w(e){return at(`num < 2^`+u,e,yn,oe),c.toBytes(e)}function se(e,t){return E(e,void 0,`message`),t?E(r(e),void 0,`prehashed message`):e}function T(t,n,r){let{lowS:i,prehash:o,extraEntropy:s}=vn(r,te);t=se(t,o);let u=C(t),p=c.fromBytes(n);if(!c.isValidNot0(p))throw Error(`invalid private key`);let m=[w(p),w(u)];if(s!=null&&s!==!1){let e=s===!0?a(ee.secretKey):s;m.push(E(e,void 0,`extraEntropy`))}let h=Be(...m),g=u;function re(t){let n=S(t);if(!c.isValidNot0(n))return;let r=e.BASE.multiply(n).toAffine(),a=c.create(r.x);if(a===yn)return;let o;if(f!==void 0){let e=Qe(Bt(f(d),l)),t=c.inv(c.mul(e,n)),r=c.mul(e,g),i=c.mul(e,p);o=c.create(t*c.create(r+i*a))}else{let e=St(n,l);o=c.create(e*c.create(g+a*p))}if(o===yn)return;let s=y(r.x,r.y,a),u=o;return i&&_(o)&&(u=c.neg(o),s^=1),new x(a,u,ne?void 0:s)}return{seed:h,k2sig:re}}function ce(e,t,n={}){let{seed:i,k2sig:a}=T(e,t,n);return ct(r.outputLen,c.BYTES,o)(i,a).toBytes(n.format)}function le(t,n,r,i={}){let{lowS:a,prehash:o,format:s}=vn(i,te);if(r=E(r,void 0,`publicKey`),n=se(n,o),!He(t)){let e=t instanceof x?`, use sig.toBytes()`:``;throw Error(`verify expects Uint8Array signature`+e)}ae(t,s);try{let i=x.fromBytes(t,s),o=e.fromBytes(r);if(o.is0()||a&&i.hasHighS())return!1;let{r:l,s:u}=i,d=C(n),f=c.inv(u),p=c.create(d*f),m=c.create(l*f),h=e.BASE.mulAddUnsafe(p,o,m);if(h.is0())return!1;let g=h.toAffine();return!(c.create(g.x)!==l||s===`recovered`&&i.recovery!==y(g.x,g.y,l))}catch{return!1}}function ue(e,t,n={}){let{prehash:r}=vn(n,te);return t=se(t,r),x.fromBytes(e,`recovered`).recoverPublicKey(t).toBytes()}return Object.freeze({keygen:p,getPublicKey:m,getSharedSecret:h,utils:g,lengths:ee,Point:e,sign:ce,verify:le,recoverPublicKey:ue,Signature:x,hash:r})}
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
const kn={p:BigInt(`0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f`),n:BigInt(`0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141`),h:BigInt(1),a:BigInt(0),b:BigInt(7),Gx:BigInt(`0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798`),Gy:BigInt(`0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8`)},An={beta:BigInt(`0x7ae96a2b657c07106e64479eac3434e99cf0497512f58995c1396c28719501ee`),basises:[[BigInt(`0x3086d221a7d46bcde86c90e49284eb15`),-BigInt(`0xe4437ed6010e88286f547fa90abfe4c3`)],[BigInt(`0x114ca50f7a8e2f3f657c1108d9d44cfd8`),BigInt(`0x3086d221a7d46bcde86c90e49284eb15`)]]},jn=/* @__PURE__ */ BigInt(2);function Mn(e){let t=kn.p,n=BigInt(3),r=BigInt(6),i=BigInt(11),a=BigInt(22),o=BigInt(23),s=BigInt(44),c=BigInt(88),l=e*e*e%t,u=l*l*e%t,d=A(A(A(u,n,t)*u%t,n,t)*u%t,jn,t)*l%t,f=A(d,i,t)*d%t,p=A(f,a,t)*f%t,m=A(p,s,t)*p%t,h=A(A(A(A(A(A(m,c,t)*m%t,s,t)*p%t,n,t)*u%t,o,t)*f%t,r,t)*l%t,jn,t);if(!Nn.eql(Nn.sqr(h),e))throw Error(`Cannot find square root`);return h}const Nn=/* @__PURE__ */ Lt(kn.p,{sqrt:Mn}),Pn=/* @__PURE__ */ On(/* @__PURE__ */ wn(kn,{Fp:Nn,endo:An}),Me),Fn=e=>Me(e),In=e=>Ne(e),j=ce,Ln=e=>new TextEncoder().encode(e);function Rn(e){let t=new Uint8Array(e.length/2);for(let n=0;n<t.length;n++)t[n]=Number.parseInt(e.slice(2*n,2*n+2),16);return t}function M(...e){let t=new Uint8Array(e.reduce((e,t)=>e+t.length,0)),n=0;for(let r of e)t.set(r,n),n+=r.length;return t}const{Point:zn}=Pn,{Fp:Bn,Fn:Vn}=zn,Hn=Bn.ORDER;function Un(e){let t=[];for(let n=0,r=e;n<33;n++){for(let e=r,n=0;n<128;n++,e=e.add(r))t.push(e);r=t.at(-1).double()}return Kt(zn,t).map(({x:e,y:t})=>({x:e,y:t}))}function Wn({table:e,scalar:t}){let n=Vn.toBytes(t).reverse(),r=0;return Array.from({length:33},(t,i)=>{let a=(n[i]??0)+r;r=+(a>128);let o=r?256-a:a,s=o?e[i*128+o-1]:void 0;return s&&r?{x:s.x,y:Hn-s.y}:s})}function Gn(e){let t=e.map(e=>e.flatMap(Wn).filter(e=>e!==void 0)),n=t.map(e=>e[0]),r=Math.max(0,...t.map(e=>e.length));for(let e=1;e<r;e++)Kn(n,t.map(t=>t[e]));return n}function Kn(e,t){let n=[],r=[];for(let[i,a]of t.entries()){let t=e[i];t&&a&&(t.x===a.x?e[i]=void 0:(n.push(a.x-t.x),r.push(i)))}let i=Jn(n);for(let[n,a]of r.entries())e[a]=qn(e[a],t[a],i[n])}function qn(e,t,n){let r=(t.y-e.y)*n%Hn,i=Bn.create(r*r-e.x-t.x);return{x:i,y:(r*(e.x-i)-e.y)%Hn}}function Jn(e){let t=[],n=1n;for(let r of e)t.push(n),n=n*r%Hn;let r=Bn.inv(Bn.create(n));for(let n=e.length-1;n>=0;n--){let i=r*t[n]%Hn;r=r*e[n]%Hn,t[n]=i}return t}const Yn=/^[0-9a-f]{128}$/,Xn=/^0[23][0-9a-f]{64}$/,{Point:Zn}=Pn,Qn=Zn.Fn,$n=/* @__PURE__ */ new Map;let er=0,tr;function nr(e){try{return Xn.test(e)&&!!Zn.fromHex(e)}catch{return!1}}function rr(e){let t=e.map(ir),n=Qn.invertBatch(t.map(e=>e?.s??1n)),r=t.map((e,t)=>e&&ar(e,n[t])),i=r.filter(e=>e!==void 0&&e.key.table!==void 0),a=Gn(i.map(or)),o=new Map(i.map((e,t)=>[e,a[t]]));return r.map(e=>e!==void 0&&sr(e,o.get(e)))}function ir({message:e,signature:t,key:n}){if(Yn.test(t)&&Xn.test(n))try{let r=Pn.Signature.fromBytes(Rn(t),`compact`);return r.hasHighS()?void 0:{r:r.r,s:r.s,digest:Qn.create(BigInt(`0x${j(Fn(e))}`)),key:cr(n)}}catch{return}}function ar({r:e,digest:t,key:n},r){return{r:e,ofBase:Qn.mul(t,r),ofKey:Qn.mul(e,r),key:n}}function or({ofBase:e,ofKey:t,key:n}){return tr??=Un(Zn.BASE),[{table:tr,scalar:e},{table:n.table,scalar:t}]}function sr({r:e,ofBase:t,ofKey:n,key:r},i){if(i)return Qn.create(i.x)===e;let a=Zn.BASE.multiplyUnsafe(t).add(r.point.multiplyUnsafe(n));return!a.is0()&&Qn.create(a.x)===e}function cr(e){let t=$n.get(e);return t||($n.size===4096&&($n.clear(),er=0),t={point:Zn.fromHex(e),used:0},$n.set(e,t)),t.used++,t.used===128&&er<64&&(t.table=Un(t.point),er++),t}var lr=class{#e={signed:[],fails:[]};#t=[];check(e,t){this.#e.signed.push(e),this.#e.fails.push(t),this.#e.signed.length>=256&&this.#n()}#n(){let e=this.#e;this.#e={signed:[],fails:[]},e.signed.length&&this.#t.push(this.run(e.signed).then(t=>e.fails[t.indexOf(!1)]))}async settle(){this.#n();let e=this.#t;this.#t=[];let t=(await Promise.all(e)).find(e=>e!==void 0);if(t)throw t()}},ur=class extends lr{run(e){return Promise.resolve(rr(e))}close(){}};let N;(function(e){e.Role={ROLE_UNSET:0,SELLER:1,CARRIER:2,BUYER:3,MANUFACTURER:4,AUTHORITY:5},e.KeyDuties_Duty={DUTY_UNSET:0,KEYS:1,REGISTRY:2,TRADE:3,CUSTODY:4,GOODS:5,EVIDENCE:6},e.Limit_Quantity={QUANTITY_UNSET:0,TEMPERATURE_MCEL:1,HUMIDITY_MPCT:2,PRESSURE_PA:3},e.Clock_Origin={NONE:0,RTC:1,NTP:2,GNSS:3},e.Remark_Kind={KIND_UNSET:0,SENSOR_LOST:1,SENSOR_SILENT:2,SENSOR_REFUSED:3,SENSOR_FROZEN:4,CAMERA_LOST:5,CAMERA_SILENT:6,CAMERA_COVERED:7,FILM_REDUCED:8,FILM_STOPPED:9,CARD_FULL:10,CARD_READ_ONLY:11,FILM_LOST:32,CLOCK_BACK:33,CLOCK_AHEAD:34,REBOOTED:35,INTERRUPTED:36,CLOCK_CORRECTED:37},e.Payment={PAYMENT_NONE:0,DUE:1,RELEASED:2,WITHHELD:3},e.SetLotStatus_Status={CLEARED:0,QUARANTINED:1,RECALLED:2}})(N||={});let dr;(function(e){e.Key_Owner={OWNER_UNSET:0,PARTY:1,DEVICE:2},e.Delivery_Status={STATUS_UNSET:0,OFFERED:1,OPEN:2,IN_TRANSIT:3,DELIVERED:4,ACCEPTED:5,DISPUTED:6,CLOSED:7,PART_DELIVERED:100,CANCELLED:101,SETTLED:102}})(dr||={});let fr;(function(e){e.StateChange_Type={TYPE_UNSET:0,SET:1,DELETE:2},e.SettingsPayload_Action={ACTION_UNSET:0,PROPOSE:1,VOTE:2},e.SettingVote_Vote={VOTE_UNSET:0,ACCEPT:1,REJECT:2}})(fr||={});var P=class extends Error{};const pr=new TextDecoder(`utf-8`,{fatal:!0,ignoreBOM:!0}),mr=new TextEncoder,hr=/* @__PURE__ */ new Uint8Array,gr=(1n<<64n)-1n;var _r=class{#e;#t=/* @__PURE__ */ new Map;#n=/* @__PURE__ */ new Map;#r=new Or;constructor(e){this.#e=e;for(let[t,n]of e.messages){this.#t.set(t,new Map(n.map(e=>[e.number,e])));let e=Object.fromEntries(n.map(e=>[e.name,yr(e)]));this.#n.set(t,{made:e,lists:n.filter(e=>e.repeated).map(e=>e.name)})}}create(e,t={}){let n=this.#n.get(e);if(!n)throw Error(`unknown message ${e}`);let r={...n.made};for(let e of n.lists)r[e]=[];return Object.assign(r,t)}decode(e,t,n=!1){return this.#a(e,new Dr(t),n)}decodeCanonical(e,t){let n=this.decode(e,t,!0);if(!F(this.encode(e,n),t))throw new P(`${t.length} bytes of ${e} are not in canonical encoding`);return n}encode(e,t){return this.#r.clear(),this.#l(e,t,this.#r),this.#r.take()}#i(e){let t=this.#e.messages.get(e);if(!t)throw Error(`unknown message ${e}`);return t}#a(e,t,n,r=this.create(e)){let i=this.#t.get(e);for(;!t.done;){let a=t.tag(),o=i.get(a>>>3),s=a&7;if(!(o&&this.#o(o,s,t,r,n))){if(n)throw new P(`the bytes hold a field that no ${e} has`);t.skip(a)}}return r}#o(e,t,n,r,i){let a=e.kind===`string`||e.kind===`bytes`||e.kind===`message`;if(t===2&&e.repeated&&!a){let t=new Dr(n.bytes());for(;!t.done;)r[e.name].push(Sr(e.kind,t.varint()));return!0}return t===vr(e)&&(e.repeated?r[e.name].push(this.#c(e,n,i)):(e.oneof&&this.#s(e,r),r[e.name]=this.#c(e,n,i,r[e.name])),!0)}#s(e,t){for(let n in t)n!==e.name&&t[n]!==void 0&&(t[n]=void 0)}#c(e,t,n,r){switch(e.kind){case`string`:return xr(t.bytes());case`bytes`:return t.bytes();case`message`:return this.#a(e.of,new Dr(t.bytes()),n,r);case`sfixed64`:return BigInt.asIntN(64,t.fixed64());default:return Sr(e.kind,t.varint())}}#l(e,t,n){for(let r of this.#i(e)){let e=t[r.name];e!==void 0&&(r.repeated?this.#u(r,e,n):(r.optional||r.kind===`message`||!br(r,e))&&this.#d(r,e,n))}}#u(e,t,n){if(!t.length)return;if(e.kind===`string`||e.kind===`bytes`||e.kind===`message`){for(let r of t)this.#d(e,r,n);return}n.small(e.number*8+2);let r=n.begin();for(let r of t)n.varint(Cr(e.kind,r));n.end(r)}#d(e,t,n){if(n.small(e.number*8+vr(e)),e.kind===`string`)n.block(mr.encode(t));else if(e.kind===`bytes`)n.block(t);else if(e.kind===`message`){let r=n.begin();this.#l(e.of,t,n),n.end(r)}else e.kind===`sfixed64`?n.fixed64(t):n.varint(Cr(e.kind,t))}};function vr(e){return e.kind===`sfixed64`?1:e.kind===`string`||e.kind===`bytes`||e.kind===`message`?2:0}function yr(e){if(e.repeated)return[];if(!(e.optional||e.kind===`message`))switch(e.kind){case`string`:return``;case`bytes`:return hr;case`bool`:return!1;case`uint64`:case`sint64`:case`int64`:case`sfixed64`:return 0n;default:return 0}}function br(e,t){return e.kind===`bytes`?t.length===0:!t}function xr(e){try{return pr.decode(e)}catch{throw new P(`text is not valid UTF-8`)}}function Sr(e,t){switch(e){case`bool`:return t!==0n;case`uint64`:return t;case`sint64`:return t>>1n^-(t&1n);case`int64`:return BigInt.asIntN(64,t);case`uint32`:return Number(BigInt.asUintN(32,t));case`sint32`:{let e=BigInt.asUintN(32,t);return Number(e>>1n^-(e&1n))}default:return Number(BigInt.asIntN(32,t))}}function Cr(e,t){switch(e){case`bool`:return t?1n:0n;case`uint64`:return t;case`sint64`:{let e=t;return BigInt.asUintN(64,e<<1n^e>>63n)}case`sint32`:{let e=BigInt(t);return BigInt.asUintN(32,e<<1n^e>>31n)}default:return BigInt.asUintN(64,BigInt(t))}}function wr(e,t,n){let r=new Dr(e);for(let e=0;!r.done;){let i=r.tag();if(i>>>3===t&&++e>n)return!0;r.skip(i)}return!1}function F(e,t){if(e.length!==t.length)return!1;for(let n=0;n<e.length;n++)if(e[n]!==t[n])return!1;return!0}const[Tr,Er]=[10,5];var Dr=class{#e;#t=0;constructor(e){this.#e=e}get done(){return this.#t>=this.#e.length}tag(){let e=this.#n();if(e>4294967295||e<8)throw new P(`a field has no valid number`);return e}varint(){return BigInt(this.#r(Tr))}#n(){return Number(this.#r(Er))}#r(e){let t=0;for(let e=0;e<4;e++){let n=this.#o();if(t|=(n&127)<<7*e,n<128)return t}let n=BigInt(t);for(let t=4;t<e;t++){let e=this.#o();if(n|=BigInt(e&127)<<BigInt(7*t),e<128)return n&gr}throw new P(`a number is longer than ${e} bytes`)}fixed64(){let e=this.#t;return this.#a(8),new DataView(this.#e.buffer,this.#e.byteOffset+e,8).getBigUint64(0,!0)}bytes(){let e=this.#n(),t=this.#t+e;if(t>this.#e.length)throw new P(`a field is cut off`);let n=this.#e.subarray(this.#t,t);return this.#t=t,n}skip(e,t=0){switch(e&7){case 0:this.varint();return;case 1:this.#a(8);return;case 2:this.bytes();return;case 3:this.#i(e>>>3,t+1);return;case 5:this.#a(4);return;default:throw new P(`a field has wire type ${e&7}`)}}#i(e,t){if(t>100)throw new P(`groups lie too deep in groups`);for(;;){let n=this.tag();if((n&7)==4){if(n>>>3!==e)throw new P(`a group ends that did not begin`);return}this.skip(n,t)}}#a(e){if(this.#t+e>this.#e.length)throw new P(`a field is cut off`);this.#t+=e}#o(){let e=this.#e[this.#t++];if(e===void 0)throw new P(`a number is cut off`);return e}},Or=class{#e=/* @__PURE__ */ new Uint8Array(4096);#t=0;clear(){this.#t=0}varint(e){let t=e;for(;t>268435455n;t>>=7n)this.#n(Number(t&127n)|128);this.small(Number(t))}small(e){let t=e;for(;t>127;t>>>=7)this.#n(t&127|128);this.#n(t)}begin(){return this.#n(0),this.#t}end(e){let t=this.#t-e;if(t<128){this.#e[e-1]=t;return}let n=Math.floor(Math.log2(t)/7);this.#r(n),this.#e.copyWithin(e+n,e,this.#t),this.#t=e-1,this.small(t),this.#t+=t}fixed64(e){this.#r(8),new DataView(this.#e.buffer,this.#t,8).setBigInt64(0,e,!0),this.#t+=8}block(e){this.small(e.length),this.#r(e.length),this.#e.set(e,this.#t),this.#t+=e.length}take(){return this.#e.slice(0,this.#t)}#n(e){this.#r(1),this.#e[this.#t++]=e}#r(e){let t=this.#t+e;if(t<=this.#e.length)return;let n=new Uint8Array(Math.max(t,this.#e.length*2));n.set(this.#e.subarray(0,this.#t)),this.#e=n}};const kr=300000n;function Ar(e,t,n){if(!F(e.boot_id,t.boot_id))return Nr(t.utc_ms-e.utc_ms,n&&e.boot_id.length?Mr(t.monotonic_ms):0n);let r=t.monotonic_ms-e.monotonic_ms;return r>=0n?r:Nr(t.utc_ms-e.utc_ms,0n)}const jr=253402300799999n,Mr=e=>e>253402300799999n?jr:e,Nr=(e,t)=>e<t?t:e,Pr=e=>e<0n?-e:e;function Fr(e,t,n){let r=t*1000n;if(t&&e>r+kr)return`UTC is ${e-r} ms after the time of the latest block`;let i=n.deliveries.reduce((e,t)=>t.agreed_at_s>e?t.agreed_at_s:e,0n)*1000n;return i&&e+kr<i?`UTC is ${i-e} ms before both sides had signed the delivery`:``}function Ir(e,t){let n=e.utc_ms-(e.monotonic_ms-t);return n>=0n&&n<=253402300799999n?n:void 0}var Lr=class{corrections=[];#e=/* @__PURE__ */ new Map;#t=/* @__PURE__ */ new Map;#n=/* @__PURE__ */ new Map;#r=[];take(e,t,n){let r=n.clock,i=j(r.boot_id);this.#i(e,t,r.monotonic_ms,i);let a=this.#t.get(e)??0,o=`${e}\0${i}`;if(a<64&&n.remarks.some(e=>e.kind===N.Remark_Kind.CLOCK_CORRECTED)){this.#t.set(e,a+1),this.#a(e,t,r,o);return}let s=this.#e.get(o);s?Rr(s,r):this.#e.set(o,{readings:1,first:r,last:r,earliest:r.utc_ms,latest:r.utc_ms})}ofReading(e,t){let n=this.#n.get(e);if(!n||!this.corrections.length)return;let r=zr(n.sequences,t);if(r===void 0)return;let i=this.corrections.find(i=>i.device===e&&i.sequence>=t&&j(i.right.boot_id)===n.boots[r]);if(i&&i.sequence!==t)return Ir(i.right,n.counters[r])}span(){if(!this.corrections.length)return;let e=[...this.#r,...[...this.#e.values()].flatMap(e=>[e.earliest,e.latest])];return e.reduce(([e,t],n)=>[n<e?n:e,n>t?n:t],[e[0],e[0]])}#i(e,t,n,r){let i=this.#n.get(e)??{sequences:[],counters:[],boots:[]};this.#n.set(e,i),i.sequences.push(t),i.counters.push(n),i.boots.push(i.boots.at(-1)===r?i.boots.at(-1):r)}#a(e,t,n,r){this.#r.push(n.utc_ms);let i=this.#e.get(r);if(this.#e.delete(r),this.corrections.push({device:e,sequence:t,right:n,readings:i?.readings??0,first:i?.first}),i)for(let e of[i.first,i.last]){let t=Ir(n,e.monotonic_ms);t!==void 0&&this.#r.push(t)}}};function Rr(e,t){e.readings+=1,t.monotonic_ms>=e.last.monotonic_ms?e.last=t:t.monotonic_ms<e.first.monotonic_ms&&(e.first=t),t.utc_ms<e.earliest&&(e.earliest=t.utc_ms),t.utc_ms>e.latest&&(e.latest=t.utc_ms)}function zr(e,t){let[n,r]=[0,e.length];for(;n<r;){let i=n+r>>1;e[i]<t?n=i+1:r=i}return e[n]===t?n:void 0}const Br=[`none`,`rtc`,`ntp`,`gnss`],Vr={1:`sensor {subject} is lost: unplugged, or its driver fails`,2:`sensor {subject} hangs`,3:`sensor {subject} gives values that cannot be`,4:`sensor {subject} gives the same values all the time`,5:`camera {subject} is lost: unplugged, or its driver fails`,6:`camera {subject} hangs`,7:`camera {subject} sees nothing`,8:`film of camera {subject} has less quality for want of room`,9:`camera {subject} is not recorded for want of room`,10:`nothing could be recorded for want of room`,11:`nothing could be recorded on a card that takes no writes`,32:`up to {amount} at the end of film {subject} are lost`,33:`the clock was set back by {amount}`,34:`the clock was set ahead by {amount}`,35:`the device was started again, {amount} after the reading before`,36:`recording stopped, and went on {amount} after the reading before`,37:`the clock is right again, by {amount}`},Hr=86400000n,I=e=>new Date(Number(e)).toISOString(),Ur=e=>e===void 0?null:I(e);function Wr(e){let t=e%1000n?`.${String(e%1000n).padStart(3,`0`)}`.replace(/0+$/,``):``;return`${e/1000n}${t} s${e>=2n*Hr?` (${e/Hr} days)`:``}`}const Gr=e=>e.map(e=>({pseudo_file_id:e.pseudo_file_id,offset_s:Number(e.offset_ms)/1e3}));function Kr(e,t){let n=e.remark,r=n.kind>=32,i=Object.entries(N.Remark_Kind).find(([,e])=>e===n.kind)?.[0]??``;return{device_id:e.device_id,sequence:Number(e.sequence),time:I(e.clock?.utc_ms??0n),corrected_time:Ur(t?.ofReading(e.device_id,e.sequence)),kind:i.toLowerCase().replaceAll(`_`,`-`),change:r?`happened`:n.ended?`ended`:`began`,subject:n.subject||null,since:I(n.since_ms),amount_s:r?Number(n.amount)/1e3:null,film:Gr(e.film),says:(Vr[n.kind]??``).replace(`{subject}`,()=>n.subject).replace(`{amount}`,()=>Wr(n.amount))}}const qr=e=>({device_id:e.device_id,readings:Number(e.count),readings_telling:Number(e.telling),remarks:Number(e.remarks),recordings_named:e.filmed});function Jr(e){let{right:t,first:n}=e;return{device_id:e.device,sequence:Number(e.sequence),boot_id:j(t.boot_id),monotonic_s:Number(t.monotonic_ms)/1e3,time:I(t.utc_ms),clock_origin:Br[t.origin]??``,clock_error_s:t.error_ms===void 0?null:t.error_ms/1e3,readings:e.readings,first_reading_at:Ur(n?.utc_ms),first_reading_corrected_at:n?Ur(Ir(t,n.monotonic_ms)):null}}const Yr={holds:[`Holds`,`Every signature and hash in the file holds, the rules were kept, no batch of the named trips is missing, and every chain of signatures ends in a key that you trust. How much of the video was checked is told below. This says that the story is genuine and complete, not that it is good: read it below.`],unanchored:[`Unanchored`,`The file is consistent, but no trusted keys were given: anyone could have made it. Compare the keys found below with those that you have from the ledger's operator, or give a trust file.`],"format-1":[`Holds, but format 1 cannot show what was left out`,`What the file shows holds. An older gateway wrote it, and it cannot prove that nothing was left out: ask for the trips in format 2.`],"does-not-hold":[`Does not hold`,`The first problem below says what failed. What comes after it in the list of checks was not reached, or may not mean anything.`],"no-evidence":[`No evidence file`,`The file does not begin as evidence does. Nothing was checked.`],"not-checked":[`Not checked`,`The file, the keys or a video could not be read.`]},Xr=[`The digest at the end of the file`,`Blocks: signed, in a row`,`Batches and transactions: signed, whole, unaltered`,`Each batch is in a block, in order`,`Nothing twice, and dependencies are here`,`The rules of the contract, applied again`,`Nothing of a named trip is missing`,`One digest for each recording`,`Leaf hashes lead to the signed root`,`Blobs are what the device signed`,`Videos from elsewhere are those recordings`,`Keys that you trust`,`State nodes are in the ledger's state`,`The ledger's state is what the batches lead to`,`Nothing more of the trips is in the ledger's state`,`Validators sealed the last block`],Zr=[2,3,4,5,6,8,9,10,13,11,16];function Qr(e,t){let n=new Set(e.problems.map(e=>e.check)),r=e.problems.some(e=>e.check===0||Zr.includes(e.check)),i=i=>{if(n.has(i))return`✗ fails`;if(r)return`– not reached or not finished`;if(i===12&&!t)return`– no keys were given`;if(i===16&&!e.ledger?.by_network)return`– one signer made the blocks`;if(i>12&&e.format===1)return`– not possible in format 1`;let a=e.recordings??[];return i===8&&!a.length?`– the named trips have no recording`:i===9&&!a.some(e=>e.leaf_hashes_checked)?`– the file has no leaf hashes`:i===10&&!a.some(e=>e.blobs_checked)?`– the file has no video`:i===11&&!a.some(e=>e.files.length)?`– no video was given`:`✓ holds`};return Xr.map((e,t)=>[e,i(t+1)])}var L=class extends Error{problem;constructor(e,t,n={}){super(t),this.problem={check:e,text:t,...n}}},$r=class extends Error{},ei=class extends Error{};const R=e=>`${e.slice(0,16)}…`,ti=new Set(`10 11 13 14 15 1I 20 21 22 23 24 25 27 28 2A 2B 2C 2G 2H 2I 2J 2K 2L 2M 2N 2P 2Q 2R 2U 2X 2Y 2Z
33 34 35 37 38 3B 3C 40 41 4C 4G 4H 4K 4L 4M 4N 4O 4P 4Q 4R 4T 4U 4W 4X 56 57 58 59 5A 5B 5E 5J
60 61 74 77 80 81 85 87 89 91 A10 A11 A12 A13 A14 A15 A16 A17 A18 A19 A2 A20 A21 A22 A23 A24 A26
A27 A28 A29 A3 A30 A31 A32 A33 A34 A35 A36 A37 A38 A39 A4 A40 A41 A42 A43 A44 A45 A47 A48 A49 A5
A53 A54 A55 A56 A59 A6 A68 A69 A7 A70 A71 A73 A74 A75 A76 A8 A84 A85 A86 A87 A88 A89 A9 A90 A91
A93 A94 A95 A96 A97 A98 A99 AA AB ACR ACT AD AE AH AI AK AL AMH AMP ANN APZ AQ AS ASM ASU ATM
AWG AY AZ B1 B10 B11 B12 B13 B14 B15 B16 B17 B18 B19 B20 B21 B22 B23 B24 B25 B26 B27 B28 B29 B3
B30 B31 B32 B33 B34 B35 B4 B41 B42 B43 B44 B45 B46 B47 B48 B49 B50 B52 B53 B54 B55 B56 B57 B58
B59 B60 B61 B62 B63 B64 B66 B67 B68 B69 B7 B70 B71 B72 B73 B74 B75 B76 B77 B78 B79 B8 B80 B81
B82 B83 B84 B85 B86 B87 B88 B89 B90 B91 B92 B93 B94 B95 B96 B97 B98 B99 BAR BB BFT BHP BIL BLD
BLL BP BPM BQL BTU BUA BUI C0 C10 C11 C12 C13 C14 C15 C16 C17 C18 C19 C20 C21 C22 C23 C24 C25
C26 C27 C28 C29 C3 C30 C31 C32 C33 C34 C35 C36 C37 C38 C39 C40 C41 C42 C43 C44 C45 C46 C47 C48
C49 C50 C51 C52 C53 C54 C55 C56 C57 C58 C59 C60 C61 C62 C63 C64 C65 C66 C67 C68 C69 C7 C70 C71
C72 C73 C74 C75 C76 C78 C79 C8 C80 C81 C82 C83 C84 C85 C86 C87 C88 C89 C9 C90 C91 C92 C93 C94
C95 C96 C97 C99 CCT CDL CEL CEN CG CGM CKG CLF CLT CMK CMQ CMT CNP CNT COU CTG CTM CTN CUR CWA
CWI D03 D04 D1 D10 D11 D12 D13 D15 D16 D17 D18 D19 D2 D20 D21 D22 D23 D24 D25 D26 D27 D29 D30
D31 D32 D33 D34 D36 D41 D42 D43 D44 D45 D46 D47 D48 D49 D5 D50 D51 D52 D53 D54 D55 D56 D57 D58
D59 D6 D60 D61 D62 D63 D65 D68 D69 D73 D74 D77 D78 D80 D81 D82 D83 D85 D86 D87 D88 D89 D91 D93
D94 D95 DAA DAD DAY DB DBM DBW DD DEC DG DJ DLT DMA DMK DMO DMQ DMT DN DPC DPR DPT DRA DRI DRL
DT DTN DWT DZN DZP E01 E07 E08 E09 E10 E12 E14 E15 E16 E17 E18 E19 E20 E21 E22 E23 E25 E27 E28
E30 E31 E32 E33 E34 E35 E36 E37 E38 E39 E4 E40 E41 E42 E43 E44 E45 E46 E47 E48 E49 E50 E51 E52
E53 E54 E55 E56 E57 E58 E59 E60 E61 E62 E63 E64 E65 E66 E67 E68 E69 E70 E71 E72 E73 E74 E75 E76
E77 E78 E79 E80 E81 E82 E83 E84 E85 E86 E87 E88 E89 E90 E91 E92 E93 E94 E95 E96 E97 E98 E99 EA
EB EQ F01 F02 F03 F04 F05 F06 F07 F08 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23
F24 F25 F26 F27 F28 F29 F30 F31 F32 F33 F34 F35 F36 F37 F38 F39 F40 F41 F42 F43 F44 F45 F46 F47
F48 F49 F50 F51 F52 F53 F54 F55 F56 F57 F58 F59 F60 F61 F62 F63 F64 F65 F66 F67 F68 F69 F70 F71
F72 F73 F74 F75 F76 F77 F78 F79 F80 F81 F82 F83 F84 F85 F86 F87 F88 F89 F90 F91 F92 F93 F94 F95
F96 F97 F98 F99 FAH FAR FBM FC FF FH FIT FL FNU FOT FP FR FS FTK FTQ G01 G04 G05 G06 G08 G09 G10
G11 G12 G13 G14 G15 G16 G17 G18 G19 G2 G20 G21 G23 G24 G25 G26 G27 G28 G29 G3 G30 G31 G32 G33
G34 G35 G36 G37 G38 G39 G40 G41 G42 G43 G44 G45 G46 G47 G48 G49 G50 G51 G52 G53 G54 G55 G56 G57
G58 G59 G60 G61 G62 G63 G64 G65 G66 G67 G68 G69 G70 G71 G72 G73 G74 G75 G76 G77 G78 G79 G80 G81
G82 G83 G84 G85 G86 G87 G88 G89 G90 G91 G92 G93 G94 G95 G96 G97 G98 G99 GB GBQ GDW GE GF GFI GGR
GIA GIC GII GIP GJ GL GLD GLI GLL GM GO GP GQ GRM GRN GRO GV GWH H03 H04 H05 H06 H07 H08 H09 H10
H11 H12 H13 H14 H15 H16 H18 H19 H20 H21 H22 H23 H24 H25 H26 H27 H28 H29 H30 H31 H32 H33 H34 H35
H36 H37 H38 H39 H40 H41 H42 H43 H44 H45 H46 H47 H48 H49 H50 H51 H52 H53 H54 H55 H56 H57 H58 H59
H60 H61 H62 H63 H64 H65 H66 H67 H68 H69 H70 H71 H72 H73 H74 H75 H76 H77 H79 H80 H81 H82 H83 H84
H85 H87 H88 H89 H90 H91 H92 H93 H94 H95 H96 H98 H99 HA HAD HBA HBX HC HDW HEA HGM HH HIU HKM HLT
HM HMO HMQ HMT HPA HTZ HUR HWE IA IE INH INK INQ ISD IU IUG IV J10 J12 J13 J14 J15 J16 J17 J18
J19 J2 J20 J21 J22 J23 J24 J25 J26 J27 J28 J29 J30 J31 J32 J33 J34 J35 J36 J38 J39 J40 J41 J42
J43 J44 J45 J46 J47 J48 J49 J50 J51 J52 J53 J54 J55 J56 J57 J58 J59 J60 J61 J62 J63 J64 J65 J66
J67 J68 J69 J70 J71 J72 J73 J74 J75 J76 J78 J79 J81 J82 J83 J84 J85 J87 J90 J91 J92 J93 J95 J96
J97 J98 J99 JE JK JM JNT JOU JPS JWL K1 K10 K11 K12 K13 K14 K15 K16 K17 K18 K19 K2 K20 K21 K22
K23 K26 K27 K28 K3 K30 K31 K32 K33 K34 K35 K36 K37 K38 K39 K40 K41 K42 K43 K45 K46 K47 K48 K49
K50 K51 K52 K53 K54 K55 K58 K59 K6 K60 K61 K62 K63 K64 K65 K66 K67 K68 K69 K70 K71 K73 K74 K75
K76 K77 K78 K79 K80 K81 K82 K83 K84 K85 K86 K87 K88 K89 K90 K91 K92 K93 K94 K95 K96 K97 K98 K99
KA KAT KB KBA KCC KDW KEL KGM KGS KHY KHZ KI KIC KIP KJ KJO KL KLK KLX KMA KMH KMK KMQ KMT KNI
KNM KNS KNT KO KPA KPH KPO KPP KR KSD KSH KT KTN KUR KVA KVR KVT KW KWH KWN KWO KWS KWT KWY KX
L10 L11 L12 L13 L14 L15 L16 L17 L18 L19 L2 L20 L21 L23 L24 L25 L26 L27 L28 L29 L30 L31 L32 L33
L34 L35 L36 L37 L38 L39 L40 L41 L42 L43 L44 L45 L46 L47 L48 L49 L50 L51 L52 L53 L54 L55 L56 L57
L58 L59 L60 L63 L64 L65 L66 L67 L68 L69 L70 L71 L72 L73 L74 L75 L76 L77 L78 L79 L80 L81 L82 L83
L84 L85 L86 L87 L88 L89 L90 L91 L92 L93 L94 L95 L96 L98 L99 LA LAC LBR LBT LD LEF LF LH LK LM LN
LO LP LPA LR LS LTN LTR LUB LUM LUX LY M1 M10 M11 M12 M13 M14 M15 M16 M17 M18 M19 M20 M21 M22
M23 M24 M25 M26 M27 M29 M30 M31 M32 M33 M34 M35 M36 M37 M38 M39 M4 M40 M41 M42 M43 M44 M45 M46
M47 M48 M49 M5 M50 M51 M52 M53 M55 M56 M57 M58 M59 M60 M61 M62 M63 M64 M65 M66 M67 M68 M69 M7
M70 M71 M72 M73 M74 M75 M76 M77 M78 M79 M80 M81 M82 M83 M84 M85 M86 M87 M88 M89 M9 M90 M91 M92
M93 M94 M95 M96 M97 M98 M99 MAH MAL MAM MAR MAW MBE MBF MBR MC MCU MD MGM MHZ MIK MIL MIN MIO
MIU MKD MKM MKW MLD MLT MMK MMQ MMT MND MNJ MON MPA MQD MQH MQM MQS MQW MRD MRM MRW MSK MTK MTQ
MTR MTS MTZ MVA MWH N1 N10 N11 N12 N13 N14 N15 N16 N17 N18 N19 N20 N21 N22 N23 N24 N25 N26 N27
N28 N29 N3 N30 N31 N32 N33 N34 N35 N36 N37 N38 N39 N40 N41 N42 N43 N44 N45 N46 N47 N48 N49 N50
N51 N52 N53 N54 N55 N56 N57 N58 N59 N60 N61 N62 N63 N64 N65 N66 N67 N68 N69 N70 N71 N72 N73 N74
N75 N76 N77 N78 N79 N80 N81 N82 N83 N84 N85 N86 N87 N88 N89 N90 N91 N92 N93 N94 N95 N96 N97 N98
N99 NA NAR NCL NEW NF NIL NIU NL NM3 NMI NMP NPT NT NTU NU NX OA ODE ODG ODK ODM OHM ON ONZ OPM
OT OZA OZI P1 P10 P11 P12 P13 P14 P15 P16 P17 P18 P19 P2 P20 P21 P22 P23 P24 P25 P26 P27 P28 P29
P30 P31 P32 P33 P34 P35 P36 P37 P38 P39 P40 P41 P42 P43 P44 P45 P46 P47 P48 P49 P5 P50 P51 P52
P53 P54 P55 P56 P57 P58 P59 P60 P61 P62 P63 P64 P65 P66 P67 P68 P69 P70 P71 P72 P73 P74 P75 P76
P77 P78 P79 P80 P81 P82 P83 P84 P85 P86 P87 P88 P89 P90 P91 P92 P93 P94 P95 P96 P97 P98 P99 PAL
PD PFL PGL PI PLA PO PQ PR PS PTD PTI PTL PTN Q10 Q11 Q12 Q13 Q14 Q15 Q16 Q17 Q18 Q19 Q20 Q21
Q22 Q23 Q24 Q25 Q26 Q27 Q28 Q29 Q3 Q30 Q31 Q32 Q33 Q34 Q35 Q36 Q37 Q38 Q39 Q40 Q41 Q42 QA QAN QB
QR QTD QTI QTL QTR R1 R9 RH RM ROM RP RPM RPS RT S3 S4 SAN SCO SCR SEC SET SG SIE SM3 SMI SQ SQR
SR STC STI STK STL STN STW SW SX SYR T0 T3 TAH TAN TI TIC TIP TKM TMS TNE TP TPI TPR TQD TRL TST
TTS U1 U2 UB UC VA VLT VP W2 WA WB WCD WE WEB WEE WG WHR WM WSD WTT X1 YDK YDQ YRD Z11 Z9 ZP ZZ`.split(/\s+/)),ni=[[0,31],[127,159],[160,160],[173,173],[1564,1564],[5760,5760],[6158,6158],[8192,8203],[8206,8207],[8232,8239],[8287,8303],[12288,12288],[55296,57343],[57344,63743],[64976,65007],[65279,65279],[65529,65531],[917504,917631],[983040,1114111]];function ri(e){return(e&65534)!=65534&&!ni.some(([t,n])=>e>=t&&e<=n)}function ii(e,t){let n=[...e];return n.length>=1&&n.length<=t&&n.every(e=>ri(e.codePointAt(0)))}const ai=/^[!"%&'()*+,\-./0-9:;<=>?A-Z_a-z]{1,20}$/,oi=/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,si=/^0[23][0-9a-f]{64}$/,ci=/^[0-9a-f]{32}$/,li=/^[A-Za-z0-9/._-]{1,20}$/,ui=e=>ai.test(e),di=e=>oi.test(e),fi=e=>si.test(e),pi=e=>ci.test(e),mi=e=>li.test(e);function hi(e,t){if(t>=1)return ti.has(e);let n=[...e];return n.length>=1&&n.length<=3&&n.every(e=>/^[A-Za-z0-9]$/.test(e)||e.codePointAt(0)>127&&ri(e.codePointAt(0)))}function gi(e){let t=0;for(let n=0;n<e.length;n++)t+=Number(e[e.length-1-n])*(n%2?3:1);return t%10==0}const _i=e=>/^(\d{8}|\d{12}|\d{13}|\d{14})$/.test(e)&&gi(e),vi=e=>/^\d{13}$/.test(e)&&gi(e),yi=e=>/^\d{18}$/.test(e)&&gi(e),bi=/^[0-9a-f]{128}$/,xi=1e6,Si=/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;function Ci(e){let t;try{t=JSON.parse(e)}catch{throw new $r("trust file: it is not JSON; expected the file that `wayseal-gateway trust` prints")}wi(e);let n=Di(t);for(let e of Object.keys(n))z([`genesis_block_id`,`block_signers`,`network`,`admin_keys`,`predecessors`].includes(e),`member ${e} is unknown`);let r=`network`in n;z(r!==`block_signers`in n,`expected either block_signers or network`);let i=`predecessors`in n?n.predecessors:[];return z(Array.isArray(i),`predecessors is no list`),{genesis_block_id:Oi(n,`genesis_block_id`),block_signers:r?[]:ki(n,`block_signers`),...r?{network:Ti(n.network)}:{},admin_keys:ki(n,`admin_keys`),predecessors:i.map(Ei)}}function wi(e){let t=e.match(Si)??[],n=[];t.forEach((e,r)=>{if(e===`{`)n.push(/* @__PURE__ */ new Set);else if(e===`[`)n.push(void 0);else if(e===`}`||e===`]`)n.pop();else if(t[r+1]===`:`){let t=JSON.parse(e);z(!n.at(-1)?.has(t),`member ${t} comes twice`),n.at(-1)?.add(t)}else z(!/^[-\d].*[.eE]/.test(e),`${e} is not a whole number`)})}function Ti(e){let t=Di(e);z(Object.keys(t).sort().join()===`chain_id,validators`,`network: expected chain_id and validators`);let n=t.chain_id;z(typeof n==`string`&&n&&[...n].length<=50,`network: chain_id has not 1 to 50 characters`);let r=Object.entries(Di(t.validators));z(r.length>0&&r.length<=100,`network: expected 1 to 100 validators`);for(let[e,t]of r)z(nr(e),`network: ${e.slice(0,70)} is no public key`),z(Number.isInteger(t)&&t>=1&&t<=xi,`network: expected a power from 1 to ${xi}`);return{chain_id:n,validators:new Map(r)}}function Ei(e){let t=Di(e);z(Object.keys(t).sort().join()===`block_id,block_num,block_signers,genesis_block_id`,`predecessor: expected genesis_block_id, block_num, block_id and block_signers`);let n=t.block_num;return z(Number.isSafeInteger(n)&&n>=0,`block_num is no number of a block`),{genesis_block_id:Oi(t,`genesis_block_id`),block_num:n,block_id:Oi(t,`block_id`),block_signers:ki(t,`block_signers`)}}function Di(e){return z(typeof e==`object`&&!!e&&!Array.isArray(e),`expected an object`),e}function Oi(e,t){return z(typeof e[t]==`string`&&bi.test(e[t]),`${t} is no id of a block`),e[t]}function ki(e,t){let n=e[t];return z(Array.isArray(n)&&n.length&&n.every(e=>typeof e==`string`&&fi(e)),`${t} is no list of public keys`),n}function z(e,t){if(!e)throw new $r(`trust file: ${t}`)}var Ai=`// Family block_info 1.0 of Hyperledger Sawtooth 1.2, with its published field numbers: when each
// block was made. The package name is ours and changes nothing on the wire.
syntax = "proto3";

package wayseal.block_info;

message BlockInfoConfig {
  uint64 latest_block = 1;
  uint64 oldest_block = 2;
  uint64 target_count = 3;
  uint64 sync_tolerance = 4;
}

message BlockInfo {
  uint64 block_num = 1;
  string previous_block_id = 2;
  string signer_public_key = 3;
  string header_signature = 4;
  // Seconds since 1970, UTC: about when the block was committed.
  uint64 timestamp = 5;
}

message BlockInfoTxn {
  BlockInfo block = 1;
  // New values for the configuration; 0 leaves it as it is.
  uint64 target_count = 2;
  uint64 sync_tolerance = 3;
}
`,ji=`// What CometBFT's validators sign, with the published field numbers of its release 0.38: a header of
// the engine's chain, the commit that seals it, and the validators that made it.
// The package name is ours: it changes nothing on the wire.
syntax = "proto3";

package wayseal.cometbft;

import "google/protobuf/timestamp.proto";

message Consensus {
  uint64 block = 1;
  uint64 app = 2;
}

message PartSetHeader {
  uint32 total = 1;
  bytes hash = 2;
}

message BlockID {
  bytes hash = 1;
  PartSetHeader part_set_header = 2;
}

message Header {
  Consensus version = 1;
  string chain_id = 2;
  int64 height = 3;
  google.protobuf.Timestamp time = 4;
  BlockID last_block_id = 5;
  bytes last_commit_hash = 6;
  bytes data_hash = 7;
  bytes validators_hash = 8;
  bytes next_validators_hash = 9;
  bytes consensus_hash = 10;
  bytes app_hash = 11;
  bytes last_results_hash = 12;
  bytes evidence_hash = 13;
  bytes proposer_address = 14;
}

// Left out is the validator's address, field 2, which nobody signs: signatures are in the order of the
// validators.
message CommitSig {
  int32 block_id_flag = 1;
  google.protobuf.Timestamp timestamp = 3;
  bytes signature = 4;
}

message Commit {
  int64 height = 1;
  int32 round = 2;
  BlockID block_id = 3;
  repeated CommitSig signatures = 4;
}

message PublicKey {
  oneof sum {
    bytes ed25519 = 1;
    bytes secp256k1 = 2;
  }
}

message SimpleValidator {
  PublicKey pub_key = 1;
  int64 voting_power = 2;
}

// What a validator signs for a header.
message CanonicalVote {
  int32 type = 1;
  sfixed64 height = 2;
  sfixed64 round = 3;
  BlockID block_id = 4;
  google.protobuf.Timestamp timestamp = 5;
  string chain_id = 6;
}

// Each field of a header is hashed as one of these.
message StringValue {
  string value = 1;
}

message Int64Value {
  int64 value = 1;
}

message BytesValue {
  bytes value = 1;
}

// Ours: a header, the commit for it and its validators, in the order of the commit's signatures.
message SealedHeader {
  Header header = 1;
  Commit commit = 2;
  repeated SimpleValidator validators = 3;
}
`,Mi=`// The parts of an evidence file (docs/evidence.md).
syntax = "proto3";

package wayseal.evidence;

message Header {
  uint32 version = 1;
  string genesis_id = 2;
  repeated string trip_ids = 3;
  uint64 exported_at_ms = 4;
  // How the sources of the delivered lots were made is left out; the verdict says so.
  bool without_lots = 5;
}

message BlockHead {
  bytes header = 1;
  string header_signature = 2;
}

// The RFC 6962 leaf hashes of one recording, in order.
message LeafHashes {
  bytes recording_sha256 = 1;
  bytes hashes = 2;
}

message Blob {
  bytes recording_sha256 = 1;
  uint64 index = 2;
  bytes data = 3;
}

// One node of the state's tree after the last block. Nodes with a single child are left out: the
// path of the next node implies them.
message StateNode {
  // The first bytes of all addresses below it; all 35 of a leaf.
  bytes path = 1;
  // The next byte of each child's path, ascending, and the hash of each child, 32 bytes each.
  // Without tokens, one hash is the node's own.
  bytes tokens = 2;
  bytes hashes = 3;
  optional bytes value = 4;
}
`,Ni=`// The payload of a transaction of family \`wayseal\`: one action.
// Integers have their unit in the name. An absent optional field means "not measured".
// Fields and actions with a number from 100 came with version 1.1, fields from 200 with 1.2; under an
// earlier version they must be absent.
syntax = "proto3";

package wayseal.payload;

message Payload {
  oneof action {
    RegisterParty register_party = 1;
    RegisterSite register_site = 2;
    RegisterDevice register_device = 3;
    OpenDelivery open_delivery = 4;
    StartTrip start_trip = 5;
    RecordReading record_reading = 6;
    SealTrip seal_trip = 7;
    RecordVideo record_video = 8;
    HandOver hand_over = 9;
    RecordRun record_run = 10;
    RotateKeys rotate_keys = 11;
    TransformLots transform_lots = 12;
    AcceptDelivery accept_delivery = 13;
    DisputeDelivery dispute_delivery = 14;
    CloseDelivery close_delivery = 15;
    CloseTrip close_trip = 16;
    PlaceHold place_hold = 17;
    ReleaseHold release_hold = 18;
    CertifyParty certify_party = 110;
    SetLotStatus set_lot_status = 111;
    PackUnit pack_unit = 112;
    CancelDelivery cancel_delivery = 101;
    AnnounceSettlement announce_settlement = 102;
    SettleDelivery settle_delivery = 103;
    CommitAccesses commit_accesses = 300;
  }
}

// A part that a party may take in deliveries or on the ledger; an administrator grants it.
enum Role {
  ROLE_UNSET = 0;
  SELLER = 1;
  CARRIER = 2;
  BUYER = 3;
  MANUFACTURER = 4;
  AUTHORITY = 5;
}

// What one key of a party may sign. A key that is not named may sign everything.
message KeyDuties {
  enum Duty {
    DUTY_UNSET = 0;
    // Rotate the party's keys.
    KEYS = 1;
    // Register sites and devices.
    REGISTRY = 2;
    // Terms, acceptance, disputes and the end of deliveries.
    TRADE = 3;
    // Handovers, and the close of trips.
    CUSTODY = 4;
    // Lots, their status, and logistic units.
    GOODS = 5;
    // Legal holds, certificates, and what an authority decides.
    EVIDENCE = 6;
  }
  string public_key = 1;
  repeated Duty duties = 2;
}

message RegisterParty {
  string party_id = 1;
  string name = 2;
  repeated string public_keys = 3;
  repeated Role roles = 4;
  repeated KeyDuties key_duties = 101;
}

// A party replaces keys of its own: the named keys are added and revoked, all others stay.
message RotateKeys {
  string party_id = 1;
  repeated string added = 2;
  repeated string revoked = 3;
  // Of keys that are added.
  repeated KeyDuties key_duties = 101;
}

message RegisterSite {
  string site_id = 1;
  string party_id = 2;
  string name = 3;
  string gln = 4;
  repeated string gateway_public_keys = 5;
  // The middle of the site, and how far it reaches; absent: unknown.
  Position position = 101;
  uint32 radius_m = 102;
}

message RegisterDevice {
  string device_id = 1;
  string party_id = 2;
  repeated string public_keys = 3;
  uint64 calibrated_until_ms = 4;
}

message Lot {
  string gtin = 1;
  string lot = 2;
}

message Limit {
  enum Quantity {
    QUANTITY_UNSET = 0;
    TEMPERATURE_MCEL = 1;
    HUMIDITY_MPCT = 2;
    PRESSURE_PA = 3;
  }
  Quantity quantity = 1;
  optional sint32 minimum = 2;
  optional sint32 maximum = 3;
  uint32 tolerated_s = 4;
  // The longest time between two measurements, seconds; 0 is 900 s.
  uint32 longest_silence_s = 101;
}

message DeliveredLot {
  Lot lot = 1;
  string product = 2;
  uint64 quantity = 3;
  string unit = 4;
}

message RequiredCertificate {
  string holder_id = 1;
  string kind = 2;
}

message OpenDelivery {
  string delivery_id = 1;
  string order_id = 2;
  repeated Lot lots = 3;
  string product = 4;
  uint64 quantity = 5;
  string unit = 6;
  bytes payment_terms_sha256 = 7;
  string seller_id = 8;
  string carrier_id = 9;
  string buyer_id = 10;
  repeated Limit limits = 11;
  bytes price_sha256 = 12;
  // Further parties that may have the goods on the way: carriers and logistics providers.
  repeated string other_carrier_ids = 101;
  // From then on the authority may settle the delivery; 0: there is no such time.
  uint64 deadline_ms = 102;
  // The one authority that may settle the delivery; empty: any authority may.
  string authority_id = 103;
  // What the delivery holds of each of its lots; empty: the terms do not say.
  repeated DeliveredLot items = 110;
  // Certificates that parties of the delivery must hold when a trip starts.
  repeated RequiredCertificate required_certificates = 111;
  // SSCC of the logistic units that are delivered.
  repeated string units = 112;
}

// A file that a device's values come from when it replays them instead of measuring.
message Source {
  string role = 1;
  string name = 2;
  bytes sha256 = 3;
}

message StartTrip {
  string trip_id = 1;
  bytes nonce = 2;
  string device_id = 3;
  repeated string delivery_ids = 4;
  string origin_site_id = 5;
  string destination_site_id = 6;
  uint64 started_at_ms = 7;
  repeated Source derived_from = 8;
  repeated string via_site_ids = 9;
  repeated string other_device_ids = 10;
  // How many trips the device has started, this one included.
  uint64 trip_number = 101;
  // SHA-256 of the canonical \`SealTrip\` with which the device sealed its trip before; absent when
  // there was none.
  bytes previous_seal_sha256 = 102;
  Clock clock = 103;
}

message Position {
  sint32 latitude_e7 = 1;
  sint32 longitude_e7 = 2;
  uint32 accuracy_cm = 3;
}

message Clock {
  enum Origin {
    NONE = 0;
    RTC = 1;
    NTP = 2;
    GNSS = 3;
  }
  uint64 utc_ms = 1;
  uint64 monotonic_ms = 2;
  bytes boot_id = 3;
  Origin origin = 4;
  // By how much UTC may be wrong at most, as the device estimates it; absent: it does not know.
  optional uint32 error_ms = 201;
}

// What a device says of itself: something began, ended, or happened once.
message Remark {
  enum Kind {
    KIND_UNSET = 0;
    // A sensor is unplugged, or its driver fails.
    SENSOR_LOST = 1;
    // A sensor was asked and does not answer.
    SENSOR_SILENT = 2;
    // A sensor gives what is no number, or cannot be; nothing of it is recorded.
    SENSOR_REFUSED = 3;
    // A sensor gives the same values for too long; they are recorded.
    SENSOR_FROZEN = 4;
    CAMERA_LOST = 5;
    CAMERA_SILENT = 6;
    // The lens shows nothing, or always the same picture.
    CAMERA_COVERED = 7;
    // Film lacks room, so it is recorded with less quality.
    FILM_REDUCED = 8;
    // There is no room: the camera works and is not recorded.
    FILM_STOPPED = 9;
    // The card, or what the device may use of it, is full: nothing could be recorded.
    CARD_FULL = 10;
    // The card takes no writes: nothing could be recorded.
    CARD_READ_ONLY = 11;

    // What follows happens once, and has no end.

    // The end of a segment of film is lost, as in a power cut. \`amount\`: at most so many ms.
    FILM_LOST = 32;
    // UTC was set back, or ahead, against the counter. \`amount\`: by so many ms.
    CLOCK_BACK = 33;
    CLOCK_AHEAD = 34;
    // The device was started again during the trip. \`amount\`: ms since the reading before.
    REBOOTED = 35;
    // Recording stopped for a while, within one boot. \`amount\`: ms since the reading before.
    INTERRUPTED = 36;
    // The clock of this reading sets right the earlier readings of its boot.
    CLOCK_CORRECTED = 37;
  }
  Kind kind = 1;
  // The sensor, camera or segment of film; empty: the device.
  string subject = 2;
  // What began before has ended.
  bool ended = 3;
  // When it began, ended or happened, by the device's UTC.
  uint64 since_ms = 4;
  // In the unit of the kind.
  uint64 amount = 5;
}

// A moment in a recording.
message FilmMoment {
  string pseudo_file_id = 1;
  // From its first picture.
  uint64 offset_ms = 2;
}

message RecordReading {
  string trip_id = 1;
  string device_id = 2;
  uint64 sequence = 3;
  bytes previous_sha256 = 4;
  Clock clock = 5;
  optional sint32 temperature_mcel = 6;
  optional sint32 humidity_mpct = 7;
  optional sint32 pressure_pa = 8;
  Position position = 9;
  uint32 tamper_flags = 10;
  bool derived = 11;
  // In the order in which they happened.
  repeated Remark remarks = 201;
  // Recordings that became whole since the reading before; the seal has to name them.
  repeated SealedRecording filmed = 202;
  // Where the films of the cameras are now; only with a remark, or when signs of tampering change.
  repeated FilmMoment film = 203;
}

// One reading of a run. Its fields have the numbers of RecordReading: after the four fields of a
// reading's place in its chain, the same bytes follow, so both hash to the same digest.
message RunReading {
  Clock clock = 5;
  optional sint32 temperature_mcel = 6;
  optional sint32 humidity_mpct = 7;
  optional sint32 pressure_pa = 8;
  Position position = 9;
  uint32 tamper_flags = 10;
  bool derived = 11;
  // In the order in which they happened.
  repeated Remark remarks = 201;
  // Recordings that became whole since the reading before; the seal has to name them.
  repeated SealedRecording filmed = 202;
  // Where the films of the cameras are now; only with a remark, or when signs of tampering change.
  repeated FilmMoment film = 203;
}

// Consecutive readings of one device. Each is hashed and chained as if it came alone.
message RecordRun {
  string trip_id = 1;
  string device_id = 2;
  uint64 first_sequence = 3;
  bytes previous_sha256 = 4;
  repeated RunReading readings = 5;
}

message SealedRecording {
  bytes sha256 = 1;
  uint64 size = 2;
}

message SealTrip {
  string trip_id = 1;
  string device_id = 2;
  uint64 reading_count = 3;
  bytes head_sha256 = 4;
  repeated SealedRecording recordings = 5;
  Clock clock = 6;
}

message RecordVideo {
  string trip_id = 1;
  string device_id = 2;
  bytes sha256 = 3;
  uint64 size = 4;
  bytes tree_root = 5;
  string pseudo_file_id = 6;
  string media_type = 7;
  uint64 started_at_ms = 8;
  uint64 duration_ms = 9;
  bool derived = 10;
  bytes source_sha256 = 11;
  string seal_transaction_id = 12;
}

message HandOver {
  string trip_id = 1;
  string delivery_id = 2;
  string site_id = 3;
  string from_party_id = 4;
  string to_party_id = 5;
  uint64 at_ms = 6;
  // How much of the delivery changes hands, in the unit of its terms; 0: all of it.
  uint64 quantity = 101;
  // Numbers of the mechanical seals on the goods or their container.
  repeated string seal_numbers = 102;
  // The goods go back towards the seller.
  bool returned = 103;
}

message LotQuantity {
  string gtin = 1;
  string lot = 2;
  uint64 quantity = 3;
  string unit = 4;
}

// Lots made from lots; without inputs, new lots begin here.
message TransformLots {
  string transformation_id = 1;
  string party_id = 2;
  string site_id = 3;
  repeated LotQuantity inputs = 4;
  repeated LotQuantity outputs = 5;
  uint64 at_ms = 6;
}

enum Payment {
  PAYMENT_NONE = 0;
  DUE = 1;
  RELEASED = 2;
  WITHHELD = 3;
}

message AcceptDelivery {
  string delivery_id = 1;
  uint64 at_ms = 2;
  // How much the buyer received, in the unit of the terms; 0: it does not say.
  uint64 received_quantity = 101;
}

message DisputeDelivery {
  string delivery_id = 1;
  string reason = 2;
  uint64 at_ms = 3;
}

// Closes a delivery, once seller and buyer have signed the same action.
message CloseDelivery {
  string delivery_id = 1;
  Payment payment = 2;
  uint64 at_ms = 3;
}

// Ends a delivery without a payment, once seller and buyer have signed the same action.
message CancelDelivery {
  string delivery_id = 1;
  string reason = 2;
  uint64 at_ms = 3;
}

// An authority gives notice that it will settle a delivery that has no deadline.
message AnnounceSettlement {
  string delivery_id = 1;
  string authority_id = 2;
  string reason = 3;
  uint64 at_ms = 4;
}

// An authority ends a delivery that its parties did not end.
message SettleDelivery {
  string delivery_id = 1;
  string authority_id = 2;
  Payment payment = 3;
  string reason = 4;
  uint64 at_ms = 5;
}

// A party closes a trip: nothing more is to come, so missing seals and recordings are found.
message CloseTrip {
  string trip_id = 1;
  string party_id = 2;
  uint64 at_ms = 3;
}

// Nobody may delete evidence of a trip under hold.
message PlaceHold {
  string trip_id = 1;
  string hold_id = 2;
  string party_id = 3;
  string reason = 4;
  uint64 at_ms = 5;
}

message ReleaseHold {
  string trip_id = 1;
  string hold_id = 2;
  string party_id = 3;
  uint64 at_ms = 4;
}

// An authority certifies a party, or revokes its own certificate.
message CertifyParty {
  // The authority.
  string party_id = 1;
  string holder_id = 2;
  // What is certified, such as \`GDP\`.
  string kind = 3;
  bytes document_sha256 = 4;
  uint64 valid_from_ms = 5;
  uint64 valid_until_ms = 6;
  bool revoked = 7;
  uint64 at_ms = 8;
}

// The maker of a lot, or an authority, says whether the lot may be used and sold.
message SetLotStatus {
  enum Status {
    CLEARED = 0;
    QUARANTINED = 1;
    RECALLED = 2;
  }
  string party_id = 1;
  string gtin = 2;
  string lot = 3;
  Status status = 4;
  string reason = 5;
  uint64 at_ms = 6;
}

// What a logistic unit holds from now on: lots, and other units. Nothing: it was unpacked.
message PackUnit {
  string party_id = 1;
  string sscc = 2;
  string site_id = 3;
  repeated LotQuantity lots = 4;
  repeated string units = 5;
  uint64 at_ms = 6;
}

// The newest access on a gateway's record of who took evidence and video; a key of the gateway signs.
message CommitAccesses {
  string site_id = 1;
  // Names the record: SHA-256 of its first access, canonical.
  bytes record_sha256 = 2;
  // Counts the heads of this record that this key of this site committed, from 1 on.
  uint64 sequence = 3;
  // Of the newest access, from 1 on.
  uint64 number = 4;
  // SHA-256 of it, canonical; each access names the one before, so this names all of them.
  bytes sha256 = 5;
  // When the head was made.
  uint64 at_ms = 6;
}
`,Pi=`// Hyperledger Sawtooth 1.2 wire messages with their published field numbers.
// The package name is ours: it changes nothing on the wire and avoids a
// descriptor clash with the sawtooth-sdk when both live in one process.
syntax = "proto3";

package wayseal.sawtooth;

message TransactionHeader {
  string batcher_public_key = 1;
  repeated string dependencies = 2;
  string family_name = 3;
  string family_version = 4;
  repeated string inputs = 5;
  string nonce = 6;
  repeated string outputs = 7;
  string payload_sha512 = 9;
  string signer_public_key = 10;
}

message Transaction {
  bytes header = 1;
  string header_signature = 2;
  bytes payload = 3;
}

message BatchHeader {
  string signer_public_key = 1;
  repeated string transaction_ids = 2;
}

message Batch {
  bytes header = 1;
  string header_signature = 2;
  repeated Transaction transactions = 3;
  bool trace = 4;
}

message BatchList {
  repeated Batch batches = 1;
}

message BlockHeader {
  uint64 block_num = 1;
  string previous_block_id = 2;
  string signer_public_key = 3;
  repeated string batch_ids = 4;
  bytes consensus = 5;
  string state_root_hash = 6;
}

message Block {
  bytes header = 1;
  string header_signature = 2;
  repeated Batch batches = 3;
}

message Event {
  message Attribute {
    string key = 1;
    string value = 2;
  }
  string event_type = 1;
  repeated Attribute attributes = 2;
  bytes data = 3;
}

message StateChange {
  enum Type {
    TYPE_UNSET = 0;
    SET = 1;
    DELETE = 2;
  }
  string address = 1;
  bytes value = 2;
  Type type = 3;
}

message TransactionReceipt {
  repeated StateChange state_changes = 1;
  repeated Event events = 2;
  repeated bytes data = 3;
  string transaction_id = 4;
}

// The on-chain settings family (sawtooth_settings 1.0).

message Setting {
  message Entry {
    string key = 1;
    string value = 2;
  }
  repeated Entry entries = 1;
}

message SettingsPayload {
  enum Action {
    ACTION_UNSET = 0;
    PROPOSE = 1;
    VOTE = 2;
  }
  Action action = 1;
  bytes data = 2;
}

message SettingProposal {
  string setting = 1;
  string value = 2;
  string nonce = 3;
}

message SettingVote {
  enum Vote {
    VOTE_UNSET = 0;
    ACCEPT = 1;
    REJECT = 2;
  }
  string proposal_id = 1;
  Vote vote = 2;
}

message SettingCandidate {
  message VoteRecord {
    string public_key = 1;
    SettingVote.Vote vote = 2;
  }
  string proposal_id = 1;
  SettingProposal proposal = 2;
  repeated VoteRecord votes = 3;
}

message SettingCandidates {
  repeated SettingCandidate candidates = 1;
}
`,Fi=`// Entries of the rules at the state addresses of family \`wayseal\`.
// Fields with a number from 100 came with version 1.1, fields from 200 with 1.2. \`rules\` is the
// version that wrote the entry last: 0 is 1.0, 1 is 1.1 or 1.2, which change no entry of one another.
// A transaction of an older version must not read the entry.
syntax = "proto3";

package wayseal.state;

import "contracts/proto/payload.proto";

message Party {
  string party_id = 1;
  string name = 2;
  repeated string public_keys = 3;
  repeated wayseal.payload.Role roles = 4;
  uint32 rules = 100;
  repeated wayseal.payload.KeyDuties key_duties = 101;
}

message Site {
  wayseal.payload.RegisterSite site = 1;
  uint32 rules = 100;
}

message Device {
  string device_id = 1;
  string party_id = 2;
  uint64 calibrated_until_ms = 3;
  repeated string public_keys = 4;
  uint32 rules = 100;
}

// One public key: its owner, and whether it is revoked.
message Key {
  enum Owner {
    OWNER_UNSET = 0;
    PARTY = 1;
    DEVICE = 2;
  }
  Owner owner = 1;
  string owner_id = 2;
  bool revoked = 3;
  // Of a party's key. Empty: it may sign everything.
  repeated wayseal.payload.KeyDuties.Duty duties = 101;
  // The key of the party from which this key descends: an administrator registered that one, and
  // this one was added by it or by keys that it added. Empty: this key itself.
  string descends_from = 102;
}

message Delivery {
  enum Status {
    STATUS_UNSET = 0;
    OFFERED = 1;
    OPEN = 2;
    IN_TRANSIT = 3;
    DELIVERED = 4;
    ACCEPTED = 5;
    DISPUTED = 6;
    CLOSED = 7;
    PART_DELIVERED = 100;
    CANCELLED = 101;
    SETTLED = 102;
  }
  wayseal.payload.OpenDelivery terms = 1;
  repeated string signed_by = 2;
  Status status = 3;
  uint32 breaches = 4;
  uint32 tampers = 5;
  wayseal.payload.Payment payment = 6;
  string custodian_id = 7;
  wayseal.payload.DisputeDelivery dispute = 8;
  string disputed_by = 9;
  wayseal.payload.CloseDelivery closing = 10;
  repeated string closing_signed_by = 11;
  uint32 rules = 100;
  // How often a limited quantity was silent for longer than agreed, or was never measured.
  uint32 silences = 101;
  // Time of the latest block when both sides had signed, seconds since 1970; 0: unknown.
  uint64 agreed_at_s = 102;
  // What each party has, by the handovers; empty until the delivery is open or changes hands.
  repeated Holding holdings = 110;
  // Sums of the handovers: out of the seller's hands, into the buyer's, and back to the seller.
  uint64 sent_quantity = 111;
  uint64 received_quantity = 112;
  uint64 returned_quantity = 113;
  // A trip by one of its carriers took the delivery.
  bool carried = 114;
  wayseal.payload.CancelDelivery cancelling = 115;
  repeated string cancelling_signed_by = 116;
  // The latest notice of each authority.
  repeated wayseal.payload.AnnounceSettlement announced = 117;
  wayseal.payload.SettleDelivery settlement = 118;
  // What the buyer named on acceptance; 0: nothing.
  uint64 accepted_quantity = 119;
  // Handovers that count, on trips whose start is not on the ledger yet.
  repeated wayseal.payload.HandOver early = 120;
  // Findings on actions of no trip.
  repeated Finding findings = 121;
  // How many trips its carriers started with it: evidence of one trip must show that there are more.
  uint64 trips = 122;
  // The required certificates that stood when both sides had signed.
  repeated wayseal.payload.CertifyParty certificates = 130;
}

// What a party has of a delivery.
message Holding {
  string party_id = 1;
  // In the unit of the terms. Below zero: it handed over more than it received on record.
  sint64 quantity = 2;
  // Seal numbers on the goods when the party last received and last handed over some of them.
  repeated string received_seals = 3;
  repeated string given_seals = 4;
}

// One delivery's limits as they were when the trip started. Under version 1.1 each limit says its
// longest silence, also when the terms do not.
message TripLimits {
  string delivery_id = 1;
  repeated wayseal.payload.Limit limits = 2;
  // Copied from the delivery.
  uint64 agreed_at_s = 101;
  // When the carrier first got the goods on this trip, and last gave them away, as both sides signed.
  uint64 received_at_ms = 102;
  uint64 given_at_ms = 103;
}

message Trip {
  wayseal.payload.StartTrip start = 1;
  repeated TripLimits deliveries = 2;
  // The parties of the trip: the device's, and seller, carriers and buyer of each delivery.
  repeated string party_ids = 3;
  wayseal.payload.CloseTrip close = 4;
  uint32 rules = 100;
  // The party that owned the starting device.
  string carrier_id = 101;
  // Limited quantities that a finding says no device measured.
  repeated wayseal.payload.Limit.Quantity missing = 102;
  // Where the trip is to end, as the destination was registered when the trip started.
  wayseal.payload.RegisterSite destination = 120;
  // Time of the latest block when the trip started, seconds since 1970; 0: unknown.
  uint64 begun_at_s = 121;
}

// How long one device went without measuring a quantity that a delivery limits. Devices other than
// the starting one have it from their first measurement on.
message Silence {
  wayseal.payload.Limit.Quantity quantity = 1;
  // Since the last measurement.
  uint64 silent_ms = 2;
  uint64 longest_ms = 3;
  // How often it was longer than agreed.
  uint32 gaps = 4;
  bool measured = 5;
  // UTC of the first and of the last measurement, and the number of the last.
  uint64 first_ms = 6;
  uint64 last_ms = 7;
  uint64 last_sequence = 8;
}

// The trips in a row that one key of a device has started, and the latest of them, by number.
message TripSeries {
  string public_key = 1;
  uint64 last_number = 2;
  repeated NumberedTrip trips = 3;
}

message NumberedTrip {
  uint64 number = 1;
  string trip_id = 2;
  // As its start names it; absent when it names none.
  bytes previous_seal_sha256 = 3;
  // Of its own seal; absent until that is on the ledger.
  bytes seal_sha256 = 4;
}

// A limit that is exceeded, since \`since_*\`, last seen at \`until_*\`.
message Excursion {
  string delivery_id = 1;
  wayseal.payload.Limit.Quantity quantity = 2;
  uint64 since_ms = 3;
  uint64 since_sequence = 4;
  sint32 extreme = 5;
  bool breached = 6;
  uint64 until_ms = 7;
  uint64 until_sequence = 8;
  uint64 lasted_ms = 9;
}

// The chain of one device's readings on one trip.
message Chain {
  string device_id = 1;
  uint64 count = 2;
  bytes head_sha256 = 3;
  uint64 last_utc_ms = 4;
  bytes last_boot_id = 5;
  uint64 last_monotonic_ms = 6;
  uint32 tamper_flags = 7;
  repeated Excursion excursions = 8;
  string seal_transaction_id = 9;
  wayseal.payload.SealTrip seal = 10;
  repeated bytes recorded_videos = 11;
  uint64 next_sequence = 12;
  uint64 calibrated_until_ms = 13;
  bool calibration_expired = 14;
  // Number of breaches of each of the trip's limits, in the trip's order; empty before the first.
  repeated uint32 breaches = 15;
  // Places on the trip of deliveries that this device may not mark, as a finding says.
  repeated uint32 unmarked = 16;
  // In the order in which the device was first held to the quantity.
  repeated Silence silences = 101;
  uint32 reboots = 102;
  // Whether the last reading's time does not lie between the blocks, and how often that began.
  // Times of derived readings are not compared.
  bool implausible = 103;
  uint32 implausible_times = 104;
  // Whether a reading was measured then and there, not derived.
  bool live = 105;
  // Where the device was, by its last reading with a position.
  wayseal.payload.Position last_position = 110;
  // How far UTC was ahead of the counter when a boot began, or when the two had moved apart.
  optional sint64 apart_ms = 111;
  // How many readings of the chain, and its seal, came in a block with a time. So evidence that
  // leaves such a time out leads to another entry.
  uint64 timed = 112;
  // How many readings are of version 1.2, under which a device says what is wrong with it.
  uint64 telling = 201;
  // How many remarks they have.
  uint64 remarks = 202;
  // How many different recordings they name as whole.
  uint32 filmed = 203;
}

// A recording that a reading names as whole.
message Filmed {
  string device_id = 1;
  wayseal.payload.SealedRecording recording = 2;
  // The first such reading.
  uint64 sequence = 3;
}

// A remark of a device, with the reading that carries it.
message Remarked {
  string trip_id = 1;
  string device_id = 2;
  uint64 sequence = 3;
  wayseal.payload.Clock clock = 4;
  wayseal.payload.Remark remark = 5;
  repeated wayseal.payload.FilmMoment film = 6;
}

// A fact about a committed transaction that an auditor must know.
message Finding {
  string rule = 1;
  string trip_id = 2;
  string device_id = 3;
  uint64 sequence = 4;
  string detail = 5;
  string transaction_id = 6;
  string transformation_id = 7;
  string sscc = 110;
  string delivery_id = 101;
}

message Findings {
  repeated Finding findings = 1;
}

// A limit of a delivery, exceeded for longer than its terms tolerate.
message Breach {
  string trip_id = 1;
  string device_id = 2;
  string delivery_id = 3;
  wayseal.payload.Limit limit = 4;
  uint64 since_ms = 5;
  uint64 since_sequence = 6;
  uint64 until_ms = 7;
  uint64 until_sequence = 8;
  sint32 extreme = 9;
  wayseal.payload.Position position = 10;
  bool ended = 11;
}

// Signs of tampering in a reading that the reading before did not show; since version 1.2 also the
// signs that it shows no longer.
message TamperEvent {
  string trip_id = 1;
  string device_id = 2;
  uint64 sequence = 3;
  uint64 utc_ms = 4;
  uint32 flags = 5;
  wayseal.payload.Position position = 6;
  uint32 ended_flags = 201;
  repeated wayseal.payload.FilmMoment film = 202;
}

message HandOverState {
  wayseal.payload.HandOver terms = 1;
  repeated string signed_by = 2;
  uint32 rules = 100;
}

// One lot: its maker, and how much of it was made and used up, in its unit.
message Lot {
  string gtin = 1;
  string lot = 2;
  string party_id = 3;
  string unit = 4;
  uint64 made = 5;
  uint64 used = 6;
  uint32 rules = 100;
  // What was said last on whether it may be used and sold.
  wayseal.payload.SetLotStatus status = 101;
}

message Transformation {
  wayseal.payload.TransformLots terms = 1;
  repeated Finding findings = 2;
  uint32 rules = 100;
}

message Hold {
  wayseal.payload.PlaceHold placed = 1;
  wayseal.payload.ReleaseHold released = 2;
  uint32 rules = 100;
}

// The certificates of one kind that authorities gave to a party; the latest word of each authority.
message Certificates {
  string holder_id = 1;
  string kind = 2;
  repeated wayseal.payload.CertifyParty by_authority = 3;
  uint32 rules = 100;
}

// A logistic unit, such as a pallet or a case, by its SSCC.
message LogisticUnit {
  string sscc = 1;
  // What it holds, as packed last.
  wayseal.payload.PackUnit packed = 2;
  // SSCC of the unit that holds it; empty: none.
  string held_by = 3;
  repeated Finding findings = 4;
  uint32 rules = 100;
}

// A head of a record of accesses that a key of a site committed. One entry for each, and the newest
// once more at an address that is found by the site.
message CommittedAccesses {
  wayseal.payload.CommitAccesses head = 1;
  // Which of the site's keys signed.
  string public_key = 2;
  // Time of the latest block then, seconds since 1970; 0 on a chain without times.
  uint64 committed_at_s = 3;
  uint32 rules = 100;
}
`,Ii=`// The well-known type that cometbft.proto imports.
syntax = "proto3";

package google.protobuf;

message Timestamp {
  int64 seconds = 1;
  int32 nanos = 2;
}
`;const Li=/* @__PURE__ */ new Set([`string`,`bytes`,`bool`,`uint32`,`int32`,`sint32`,`uint64`,`sint64`,`int64`,`sfixed64`]);function Ri(e){let t={messages:/* @__PURE__ */ new Map,enums:/* @__PURE__ */ new Map},n=[];for(let r of e)zi(r,t,n);for(let{scope:e,type:r,field:i}of n)Bi(t,e,r,i);for(let e of t.messages.values())e.sort((e,t)=>e.number-t.number);return t}function zi(e,t,n){let r=e.replace(/\/\/.*$/gm,``).match(/"[^"]*"|[\w.]+|[{}=;]/g)??[],i=[],a=``,o=()=>[a,...i.filter(e=>e.kind!==`oneof`).map(e=>e.name)].join(`.`);for(let e=0;e<r.length;){let s=r[e],c=i.at(-1);if(s===`syntax`||s===`import`)e=r.indexOf(`;`,e)+1;else if(s===`package`)a=r[e+1].replace(/^wayseal\./,``),e+=3;else if(s===`message`||s===`enum`||s===`oneof`)i.push({name:r[e+1],kind:s}),s===`message`&&t.messages.set(o(),[]),s===`enum`&&t.enums.set(o(),[]),e+=3;else if(s===`}`)i.pop(),e+=1;else if(c?.kind===`enum`)t.enums.get(o())?.push([s,Number(r[e+2])]),e+=4;else{let i=s===`repeated`||s===`optional`?s:``;i&&(e+=1);let[a,l,,u]=r.slice(e,e+4),d={name:l,number:Number(u),kind:`message`,of:``,repeated:i===`repeated`,optional:i===`optional`||c?.kind===`oneof`,oneof:c?.kind===`oneof`};t.messages.get(o())?.push(d),n.push({scope:o(),type:a,field:d}),e+=5}}}function Bi(e,t,n,r){if(Li.has(n)){r.kind=n;return}let i=n.replace(/^wayseal\./,``),a=t.split(`.`);for(let t=a.length;t>=0;t--){let n=[...a.slice(0,t),i].join(`.`);if(e.messages.has(n)||e.enums.has(n)){r.of=n,r.kind=e.messages.has(n)?`message`:`enum`;return}}throw Error(`unknown type ${n} in ${t}`)}const Vi=Ri([Ni,Fi,Mi,Pi,Ai,Ii,ji]),B=new _r(Vi),Hi={HEADER:1,BLOCK_HEAD:2,BATCH:3,LEAF_HASHES:4,BLOB:5,STATE_NODE:6,SEALED_HEADER:7,END:255},Ui=`WAYSEAL EVIDENCE `,Wi=1<<20,Gi={1:Wi,2:4*Wi,3:16*Wi,4:2098176,5:1049600,6:16778240,7:65536,255:32};var Ki=class{#e;#t=/* @__PURE__ */ new Uint8Array;#n=0;at=0;constructor(e){this.#e=e}async take(e){if(this.at+e>this.#n+this.#t.length){let t=Math.min(this.#e.size,this.at+Math.max(e,4194304));this.#t=new Uint8Array(await this.#e.slice(this.at,t).arrayBuffer()),this.#n=this.at}let t=this.at-this.#n,n=this.#t.subarray(t,t+e);return this.at+=n.length,n}},qi=class e{format;size;#e;#t=Me.create();digestHolds;constructor(e,t,n,r){this.size=e,this.format=t,this.#e=n,this.#t.update(r)}static async open(t){let n=new Ki(t),r=await n.take(19),i=new TextDecoder(`latin1`).decode(r),a=[1,2].find(e=>i===`${Ui}${e}\n`);if(a===void 0)throw new ei(`not an evidence file: it ${i?`begins with ${JSON.stringify(i)}`:`is empty`}; expected one that begins with '${Ui}2'`);return new e(t.size,a,n,r)}get read(){return this.#e.at}async*frames(){let e=0,t=0;for(;;){let n=await this.#e.take(5);if(n.length<5)throw new L(0,`file ends early: there is no last frame`);let r=n[0],i=new DataView(n.buffer,n.byteOffset,5).getUint32(1),a=(r===Hi.STATE_NODE||r===Hi.SEALED_HEADER)&&this.format===1?void 0:Gi[r];if(a===void 0)throw new L(0,`a frame has the kind ${r}`);if(i>a)throw new L(0,`a frame of kind ${r} has ${i} bytes, at most ${a} are allowed`);let o=r===Hi.END?this.#t.clone().digest():void 0;this.#t.update(n);let s=await this.#e.take(i);if(s.length<i)throw new L(0,`file ends early: a frame is cut off`);if(r<e)throw new L(0,`a frame of kind ${r} comes after one of kind ${e}`);if(r===Hi.HEADER?++t>1:!t)throw new L(0,`the file must have one header, first`);if(e=r,o){if(this.digestHolds=F(o,s),this.digestHolds&&this.#e.at!==this.size)throw new L(0,`bytes follow the last frame`);return}this.#t.update(s),yield{kind:r,payload:s}}}};const Ji=`b7a4b7`,Yi=`00b10c`,Xi=`${Yi}01${`0`.repeat(62)}`,Zi=e=>`${Yi}00${e.toString(16).padStart(62,`0`)}`,Qi=`${Ji}04`,$i=`${Ji}0a`,ea=/* @__PURE__ */ new Map;function ta(e,t){let n=ea.get(e);return n===void 0&&(n=j(In(Ln(e))),ea.size>1e5&&ea.clear(),ea.set(e,n)),n.slice(0,t)}const na=e=>t=>`${Ji}${e}${ta(t,62)}`,V=na(`01`),ra=na(`02`),ia=na(`03`),H=na(`04`),U=na(`05`),aa=(e,t)=>na(`06`)(`${e}\0${t}`),oa=na(`07`),sa=na(`08`),ca=(e,t)=>na(`09`)(`${e}\0${t}`),la=na(`0a`),ua=(e,t,n,r)=>`${Ji}0b00${ta(`${e}\0${j(t)}`,30)}${ta(`${n}\0${r}`,30)}`,da=(e,t,n)=>`${Ji}0b01${ta(e,30)}${ta(`${j(t)}\0${n}`,30)}`,W=e=>`${Ji}10${ta(e,30)}`,fa=(e,t,n)=>`${W(e)}${t}${ta(n,30)}`,G=e=>`${W(e)}00${`0`.repeat(30)}`,pa=(e,t)=>fa(e,`01`,t),ma=(e,t,n,r,i)=>fa(e,`02`,[t,n,r,i].join(`\0`)),ha=(e,t,n,r,i)=>fa(e,`03`,[t,n,r,i].join(`\0`)),ga=(e,t)=>fa(e,`04`,t),_a=(e,t)=>fa(e,`05`,t),va=(e,t,n)=>fa(e,`07`,`${t}\0${n}`),ya=(e,t)=>fa(e,`06`,t);function ba(e){let t=e.split(`.`),n=[...t.slice(0,3),t.slice(3).join(`.`)];for(;n.length<4;)n.push(``);return`000000${n.slice(0,4).map(e=>j(Fn(Ln(e))).slice(0,16)).join(``)}`}const xa=ba(`wayseal.admin_keys`),Sa=new TextEncoder;function Ca(e,t){let n=e<<5;return t<24?Uint8Array.of(n|t):t<256?Uint8Array.of(n|24,t):t<65536?Uint8Array.of(n|25,t>>8,t&255):Uint8Array.of(n|26,t>>>24,t>>16&255,t>>8&255,t&255)}const wa=e=>M(Ca(3,e.length),Sa.encode(e)),Ta=e=>M(Ca(2,e.length),e),Ea=e=>j(In(e)).slice(0,64);function Da(e,t){let n=e.map((e,n)=>M(wa(e),wa(t[n])));return Ea(M(Ca(5,2),wa(`c`),Ca(5,e.length),...n,wa(`v`),Uint8Array.of(246)))}function Oa(e){return Ea(M(Ca(5,2),wa(`c`),Ca(5,0),wa(`v`),Ta(Ta(e))))}function ka(e,t,n){let r=t;for(let t=e.length;t>n.length;t-=2)r=Da([e.slice(t-2,t)],[r]);return r}const Aa=(e,t,n)=>ka(e,Oa(t),n),ja=e=>new L(13,`state node '${e}' is not in the state that the last block commits to`,{about:e});var Ma=class{#e=/* @__PURE__ */ new Map;#t=/* @__PURE__ */ new Map;#n;#r=``;constructor(e){this.#n=e}add(e){let t=Na(e);if(!this.#e.size){if((t.path===``&&t.tokens.length?Da(t.tokens,t.hashes):``)!==this.#n)throw new L(13,`the first state node must be the root '${this.#n.slice(0,16)}', got a node at '${t.path}'`,{about:t.path});this.#e.set(``,t);return}let n=t.path>this.#r?this.#i(t.path):void 0;if(this.#r=t.path,!n)throw ja(t.path);let r=t.path.slice(n.path.length,n.path.length+2),i=n.tokens.indexOf(r),a=n.path+r;if(i<0||this.#t.has(a))throw ja(t.path);let o=t.value===void 0?t.tokens.length?Da(t.tokens,t.hashes):t.hashes[0]:Oa(t.value);if(ka(t.path,o,a)!==n.hashes[i])throw ja(t.path);this.#e.set(t.path,t),this.#t.set(a,t)}get empty(){return!this.#e.size}#i(e){for(let t=e.length-2;t>=0;t-=2){let n=this.#e.get(e.slice(0,t));if(n)return n}}find(e){let t=this.#e.get(``);for(;t;){if(!e.startsWith(t.path))return{nothing:!0};if(t.value!==void 0)return{value:t.value};if(!t.tokens.length)return t.path===e?{below:e,hash:t.hashes[0]}:{unproved:!0};let n=e.slice(t.path.length,t.path.length+2),r=t.tokens.indexOf(n);if(r<0)return{nothing:!0};let i=t.path+n,a=this.#t.get(i);if(!a)return{below:i,hash:t.hashes[r]};t=a}return{unproved:!0}}under(e){let t=[],n=[],r=i=>{(i.path.startsWith(e)||e.startsWith(i.path))&&(i.value===void 0?i.tokens.length||n.push({below:i.path,hash:i.hashes[0],end:!0}):t.push([i.path,i.value]),i.tokens.forEach((t,a)=>{let o=i.path+t;if(!o.startsWith(e)&&!e.startsWith(o))return;let s=this.#t.get(o);s?r(s):n.push({below:o,hash:i.hashes[a],end:!1})}))},i=this.#e.get(``);return i&&r(i),{leaves:t,hidden:n}}};function Na(e){let t=j(e.path.subarray(0,35));if(e.tokens.length>256)throw ja(t);let n=Array.from(e.tokens,e=>e.toString(16).padStart(2,`0`)),r=n.length||+(e.value===void 0),i=e.value!==void 0,a=n.every((e,t)=>t===0||n[t-1]<e),o=n.length?34:35;if(!(i?e.path.length===35&&!n.length:e.path.length<=o)||!a||e.hashes.length!==r*32)throw ja(t);let s=Array.from({length:r},(t,n)=>j(e.hashes.subarray(n*32,(n+1)*32)));return e.value===void 0?{path:t,tokens:n,hashes:s}:{path:t,tokens:n,hashes:s,value:e.value}}var Pa=class{#e;#t;#n;#r;#i;problems=[];leftOut=/* @__PURE__ */ new Map;#a=/* @__PURE__ */ new Map;constructor(e,t,n,r){this.#e=e,this.#t=t,this.#n=n,this.#r=r,this.#i=[...e.store.entries.keys()].sort()}compare(){let e=new Set(this.#n.flatMap(e=>this.#o(e)?.delivery_ids??[])),t=new Set(this.#n);for(let n of e)for(let e of this.#e.movers.get(n)??[])t.add(e);let n=new Ra(t,e,this.#s(e),this.#r),r=/* @__PURE__ */ new Set([...this.#e.store.met,...n.lots]);for(let e of[...r].sort())n.compares(e)&&this.#c(e);for(let e of t)this.#u(e);return{problems:this.problems,leftOut:this.leftOut,places:this.#a}}#o(e){return this.#e.store.entries.get(G(e))?.value?.start}#s(e){let t=/* @__PURE__ */ new Set;for(let n of e){let e=this.#e.store.entries.get(U(n))?.value;for(let n of e?.terms?.lots??[])t.add(aa(n.gtin,n.lot))}return t}#c(e){let t=this.#e.store.encoded(e),n=this.#e.store.entries.get(e)?.kind??(Fa(e)?`Lot`:void 0),r=this.#t.find(e),i;if(`nothing`in r)i=t===void 0;else if(`value`in r)i=n!==void 0&&(t!==void 0||n===`Lot`)&&za(n,t,r.value);else if(`below`in r){let t=this.#l(r.below),n=t===void 0?void 0:this.#e.store.encoded(t);i=t!==void 0&&n!==void 0&&Aa(t,n,r.below)===r.hash&&t===e}else i=!1;i||this.problems.push({check:14,about:e,text:`${Va(n,this.#e,e)}: the ledger has another entry than the batches in the file lead to, so a batch is missing`})}#l(e){let t=Ha(this.#i,e),n=this.#i[t];if(n?.startsWith(e)&&!this.#i[t+1]?.startsWith(e))return n}#u(e){let t=W(e),{leaves:n,hidden:r}=this.#t.under(t),i=t=>{this.problems.push({check:15,about:t,text:`trip ${e}: the ledger has an entry at ${t}, to which no batch in the file leads, so a batch is missing`})};for(let e of r)this.#d(e,t)||i(e.below);for(let[t,r]of n)if(Ia(t)){let n=this.#f(e,t,r);n.length?this.#a.set(e,[...this.#a.get(e)??[],...n]):i(t)}else!this.#e.store.entries.has(t)&&!this.#p(e,t,r)&&i(t)}#d({below:e,hash:t,end:n},r){if(n)return e.length===70&&!Ia(e)&&this.#e.store.entries.has(e);let i=this.#l(e.length>r.length?e:r),a=i===void 0||Ia(i)?void 0:this.#e.store.encoded(i);return i!==void 0&&a!==void 0&&Aa(i,a,e)===t}#f(e,t,n){let r=Ia(t)?ya:ga;try{let{findings:i}=B.decodeCanonical(`state.Findings`,n);return i.every(n=>n.trip_id===e&&r(e,n.transaction_id)===t)?i:[]}catch(e){if(e instanceof P)return[];throw e}}#p(e,t,n){let r=this.#f(e,t,n),i=this.#o(e),a=i?[i.device_id,...i.other_device_ids]:[];if(!r.some(e=>e.rule===`device-not-on-trip`&&!a.includes(e.device_id)||e.rule===`signer-mismatch`&&!a.includes(La(e.detail))))return!1;let o=this.leftOut.get(e)??/* @__PURE__ */ new Map;for(let e of r)o.set(e.rule,(o.get(e.rule)??0)+1);return this.leftOut.set(e,o),!0}};const Fa=e=>e.startsWith(`${Ji}06`),Ia=e=>e.startsWith(`b7a4b710`)&&e.slice(38,40)===`06`,La=e=>(e.startsWith(`signed by `)?e.slice(10):e).split(`;`,1)[0];var Ra=class{lots;#e;#t;#n;constructor(e,t,n,r){this.#e=new Set([...e].map(W)),this.#t=new Set([...t].map(U)),this.lots=n,this.#n=r}compares(e){if(!e.startsWith(`b7a4b7`))return!1;switch(e.slice(6,8)){case`06`:return!this.#n||this.lots.has(e);case`0a`:case`08`:return!1;case`05`:return this.#t.has(e);case`10`:return this.#e.has(e.slice(0,38))&&e.slice(38,40)!==`06`;default:return!0}}};function za(e,t,n){if(t&&F(t,n))return!0;let r=`state.${e}`;try{let[i,a]=[B.decode(r,t??/* @__PURE__ */ new Uint8Array),B.decodeCanonical(r,n)];if(e===`Lot`&&!a.gtin)return!1;if(e===`Lot`)Ba(i,a);else if(e===`Transformation`)i.findings=a.findings;else if(e===`Delivery`)for(let e of[i,a])e.findings=e.findings.filter(e=>e.rule!==`unit-unknown`);else return!1;return F(B.encode(r,i),B.encode(r,a))}catch(e){if(e instanceof P)return!1;throw e}}function Ba(e,t){e.gtin||([e.gtin,e.lot]=[t.gtin,t.lot]),t.used<e.used||(e.used=t.used,e.rules=t.rules,e.party_id||(e.unit=t.unit))}function Va(e,t,n){let r=t.store.entries.get(n)?.value;switch(e){case`Party`:return`party ${r?.party_id}`;case`Site`:return`site ${r.site?.site_id}`;case`Device`:return`device ${r?.device_id}`;case`Delivery`:return`delivery ${r.terms?.delivery_id}`;default:return`${e??`entry`} ${n}`}}function Ha(e,t){let[n,r]=[0,e.length];for(;n<r;){let i=n+r>>1;e[i]<t?n=i+1:r=i}return n}const Ua=/* @__PURE__ */ new Uint8Array;var Wa=class{#e;#t;#n;constructor(e){this.#e=e}add(e){let t=ao(`cometbft.SealedHeader`,e,!0),n=t.header??B.create(`cometbft.Header`),r=e=>new L(16,`sealed header ${n.height}: ${e}`),i=Ja(t,r),a=Xa(t);if(!F(a,n.validators_hash))throw r(`its validators are not those that it names`);let o=this.#r(t,n,r),s=Ga(o.map(e=>i.get(e))),c=Ga([...i.values()]);if(3*s<=2*c)throw r(`signed by ${s} of a voting power of ${c}, more than two thirds are needed`);let l=Ka(n);if(l<0n||l>253402300799999n)throw r(`its time, ${l} ms, is before 1970 or after the year 9999`);let u=this.#n?.header;if(u){if(n.height<=u.height||n.chain_id!==u.chain_id)throw r(`it does not follow header ${u.height} of ${u.chain_id}`);if(!F(a,u.validators_hash)&&!F(a,u.next_validators_hash))throw r(`its validators do not follow from header ${u.height}`)}this.#t??=i,this.#n={sealed:t,header:n,powers:i,by:o}}of(e){if(!this.#n||!this.#t)throw new L(16,`a network of validators made the blocks, and the file has no sealed header: nothing shows that they did`);let{header:t,powers:n,by:r}=this.#n;if(j(t.app_hash)!==e)throw new L(16,`sealed header ${t.height} is about block ${R(j(t.app_hash))}, the last block is ${R(e)}`);return{chain_id:t.chain_id,began_with:this.#t,height:t.height,ms:Ka(t),by:[...r].sort(),power:Ga(r.map(e=>n.get(e))),power_of_all:Ga([...n.values()])}}#r(e,t,n){let r=e.commit??B.create(`cometbft.Commit`),i=r.block_id??B.create(`cometbft.BlockID`);if(r.height!==t.height||!F(i.hash,Za(t)))throw n(`the commit is for another header`);if(r.signatures.length!==e.validators.length)throw n(`${r.signatures.length} signatures of ${e.validators.length} validators`);let a=[];return r.signatures.forEach((o,s)=>{if(o.block_id_flag===1&&!o.timestamp&&!o.signature.length)return;if(o.block_id_flag!==2)throw n(`a vote that is neither for it nor absent`);let c=qa(e.validators[s]);this.#e.check({message:Qa(t.chain_id,r,i,o),signature:j(o.signature),key:c},()=>n(`the signature of validator ${c} does not hold`)),a.push(c)}),a}};const Ga=e=>e.reduce((e,t)=>e+t,0);function Ka({time:e}){return e?e.seconds*1000n+BigInt(Math.floor(e.nanos/1e6)):0n}const qa=e=>j(e.pub_key?.secp256k1??Ua);function Ja(e,t){let n=/* @__PURE__ */ new Map;for(let r of e.validators){let e=qa(r);if(!(fi(e)&&!n.has(e)&&r.voting_power>0n&&r.voting_power<=1000000n))throw t(`expected validators each once, with a key of secp256k1 and a power`);n.set(e,Number(r.voting_power))}if(!n.size||n.size>100)throw t(`expected 1 to 100 validators, got ${n.size}`);return n}function Ya(e){if(!e.length)return Fn(Ua);if(e.length===1)return Fn(M(Uint8Array.of(0),e[0]));let t=1;for(;t*2<e.length;)t*=2;return Fn(M(Uint8Array.of(1),Ya(e.slice(0,t)),Ya(e.slice(t))))}const Xa=e=>Ya(e.validators.map(e=>B.encode(`cometbft.SimpleValidator`,e)));function Za(e){let t=(e,t)=>t?B.encode(e,t):Ua,n=(e,t)=>B.encode(`cometbft.${e}`,{value:t});return Ya([t(`cometbft.Consensus`,e.version),n(`StringValue`,e.chain_id),n(`Int64Value`,e.height),t(`google.protobuf.Timestamp`,e.time),t(`cometbft.BlockID`,e.last_block_id),...[e.last_commit_hash,e.data_hash,e.validators_hash,e.next_validators_hash,e.consensus_hash,e.app_hash,e.last_results_hash,e.evidence_hash,e.proposer_address].map(e=>n(`BytesValue`,e))])}function Qa(e,t,n,r){let i=B.encode(`cometbft.CanonicalVote`,{type:2,height:t.height,round:BigInt(t.round),block_id:n,timestamp:r.timestamp??{seconds:0n,nanos:0},chain_id:e});return M($a(i.length),i)}function $a(e){let t=[];for(let n=e;;n>>>=7){if(n<128)return Uint8Array.from([...t,n]);t.push(n&127|128)}}const eo=Ln(`CometBFT`);function to(e){let{consensus:t}=e;return!e.signer_public_key&&t.length===eo.length+8&&F(t.subarray(0,eo.length),eo)}const no=`0`.repeat(16),ro=/^[0-9a-f]{128}$/,io=5e4;function ao(e,t,n){try{return n?B.decodeCanonical(e,t):B.decode(e,t,!0)}catch(n){throw n instanceof P?new L(0,`${t.length} bytes are not a valid ${e.split(`.`)[1]} message: ${n.message}`):n}}function oo(e){try{return wr(e,3,io)}catch(e){if(e instanceof P)return!1;throw e}}var so=class{#e;#t=/* @__PURE__ */ new Map;#n=0;#r=-1;#i=/* @__PURE__ */ new Set;#a=/* @__PURE__ */ new Map;blocks=0;genesis=``;lastId=``;ids=/* @__PURE__ */ new Map;#o;stateRoot=``;withBatches=/* @__PURE__ */ new Set;constructor(e,t){this.#e=e,this.#o=t}block(e){let t=ao(`sawtooth.BlockHeader`,e.header,!1),n=this.blocks,r=String(t.block_num);if(t.block_num!==BigInt(n))throw new L(2,`block ${t.block_num} where block ${n} is expected`,{about:r});let i=n?this.lastId:no;if(t.previous_block_id!==i)throw new L(2,`block ${n} follows ${R(t.previous_block_id)}, the block before it is ${R(i)}`,{about:r});let a=to(t);if(a?this.#s(e,n):this.#e.check({message:e.header,signature:e.header_signature,key:t.signer_public_key},()=>(this.#c(n),new L(2,`block ${n} (${R(e.header_signature)}): signature does not match`,{about:r}))),t.batch_ids.forEach((e,t)=>{if(!ro.test(e))throw new L(2,`block ${n} names a batch id of another form`,{about:r});if(this.#t.has(e))throw new L(2,`block ${n} names batch ${R(e)}, which was named before`,{about:r});this.#t.set(e,{order:this.#n++,block:n,first:t===0})}),n&&a!==this.byNetwork)throw new L(2,`block ${n}: one signer and a network of validators do not make blocks of one ledger`,{about:r});!a&&!this.#a.has(t.signer_public_key)&&this.#a.set(t.signer_public_key,n),n||(this.genesis=e.header_signature),this.#o.has(n)&&this.ids.set(n,e.header_signature),this.lastId=e.header_signature,this.stateRoot=t.state_root_hash,this.blocks+=1}get signers(){return[...this.#a.keys()].sort()}get byNetwork(){return this.blocks>0&&!this.#a.size}#s(e,t){let n=j(In(e.header));if(e.header_signature!==n)throw new L(2,`block ${t} (${R(e.header_signature)}): its id is not the SHA-512 of its header, ${R(n)}`,{about:String(t)})}#c(e){for(let[t,n]of this.#a)n>=e&&this.#a.delete(t);this.blocks=e}batch(e){if(oo(e))throw new L(3,`a batch of more than ${io} transactions`);let t=ao(`sawtooth.Batch`,e,!0),n=t.header_signature,r=e=>new L(3,`batch ${R(n)}: ${e}`,{about:n});if(!t.transactions.length)throw r(`holds no transactions`);if(t.trace)throw r("`trace` set, which no signature covers");let i=ao(`sawtooth.BatchHeader`,t.header,!1);if(this.#e.check({message:t.header,signature:n,key:i.signer_public_key},()=>r(`signature does not match`)),i.transaction_ids.length!==t.transactions.length)throw r(`header names ${i.transaction_ids.length} transactions, the batch holds ${t.transactions.length}`);t.transactions.forEach((e,t)=>{if(e.header_signature!==i.transaction_ids[t])throw r(`its transactions stand in another order`)});let a=t.transactions.map(e=>this.#l(e,i.signer_public_key)),o=this.#t.get(n);if(!o)throw new L(4,`batch ${R(n)} is in no block`,{about:n});if(o.order<=this.#r)throw new L(4,`batch ${R(n)} is not in the ledger's order`,{about:n});return this.#r=o.order,this.withBatches.add(o.block),t.transactions.map((e,t)=>({header:a[t],transaction:e,block:o.block,first:o.first}))}#l(e,t){let n=e.header_signature,r=e=>new L(3,`transaction ${R(n)}: ${e}`,{about:n}),i=ao(`sawtooth.TransactionHeader`,e.header,!1);this.#e.check({message:e.header,signature:n,key:i.signer_public_key},()=>r(`signature does not match`));let a=j(In(e.payload));if(a!==i.payload_sha512)throw r(`payload SHA-512 is ${R(a)}, signed is ${R(i.payload_sha512)}`);if(i.batcher_public_key!==t)throw r(`made for batcher ${R(i.batcher_public_key)}, the batch is by ${R(t)}`);return i}once(e){if(this.#i.has(e))throw new L(5,`transaction ${R(e)} comes twice`,{about:e});this.#i.add(e)}has(e){return this.#i.has(e)}};const co=1<<20,lo=async(...e)=>new Uint8Array(await crypto.subtle.digest(`SHA-256`,M(...e))),uo=e=>lo(Uint8Array.of(0),e);function fo(e){if(!e.length)return Me(/* @__PURE__ */ new Uint8Array);let t=[...e];for(;t.length>1;){let e=[];for(let n=0;n<t.length;n+=2){let[r,i]=[t[n],t[n+1]];e.push(i?Me(M(Uint8Array.of(1),r,i)):r)}t=e}return t[0]}const po=e=>Number((e+BigInt(co)-1n)/BigInt(co));var mo=class{#e;#t=/* @__PURE__ */ new Map;constructor(e){this.#e=e}leaves(e){let t=j(e.recording_sha256),n=e=>new L(9,`leaf hashes of recording ${R(t)}: ${e}`,{about:t}),r=this.#e.get(t)?.[0];if(!r)throw n(`no digest of it is in the file`);if(this.#t.has(t))throw n(`they come twice`);let i=po(r.size);if(e.hashes.length!==i*32)throw n(`${e.hashes.length} bytes, expected ${i*32}`);let a=Array.from({length:i},(t,n)=>e.hashes.subarray(n*32,(n+1)*32));if(j(fo(a))!==r.root)throw n(`they do not lead to the root that the device signed`);this.#t.set(t,{digest:r,leaves:e.hashes.slice(),checked:{leaves:!0,blobs:0,files:[]},whole:Me.create(),next:0})}async blob(e){let t=j(e.recording_sha256),n=Number(e.index),r=e=>new L(10,`blob ${n} of recording ${R(t)}: ${e}`,{about:t}),i=this.#t.get(t);if(!this.#e.has(t))throw new L(9,`blob ${n}: no committed digest names recording ${R(t)}`,{about:t});if(!i)throw r(`there are no leaf hashes for it`);if(n<i.next)throw r(`blobs are not in ascending order`);let a=po(i.digest.size);if(n>=a)throw r(`the recording has ${a} blobs`);let o=n===a-1?Number(i.digest.size-BigInt(n)*BigInt(co)):co;if(e.data.length!==o)throw r(`it has ${e.data.length} bytes, expected ${o}`);let s=i.leaves.subarray(n*32,(n+1)*32);if(j(await uo(e.data))!==j(s))throw r(`not the video that the device signed`);i.next=n+1,i.checked.blobs+=1,i.whole.update(e.data)}checkWhole(){for(let[e,[t]]of this.#e){let n=this.#t.get(e);if((n?.checked.blobs??0)!==po(t.size))continue;let r=n?n.whole.digest():Me(/* @__PURE__ */ new Uint8Array);if(j(r)!==e)throw new L(10,`recording ${R(e)}: the whole does not have the SHA-256 that the device signed`,{about:e})}}async compare(e,t){let n=Me.create(),r=[];for(let e=0;e<t.size;e+=co){let i=new Uint8Array(await t.slice(e,e+co).arrayBuffer());n.update(i),r.push(await uo(i))}let i=j(n.digest()),a=this.#e.get(i)?.[0];if(!a)return new L(11,`${e} is no recording of the evidence, which has ${this.#e.size}`,{about:e});if(a.size!==BigInt(t.size)||a.root!==j(fo(r)))return new L(11,`${e} differs from recording ${R(i)}`,{about:e});this.checked(i).files.push(e)}checked(e){let t=this.#t.get(e);return t||(t={digest:this.#e.get(e)?.[0],leaves:/* @__PURE__ */ new Uint8Array,checked:{leaves:!1,blobs:0,files:[]},whole:Me.create(),next:0},this.#t.set(e,t)),t.checked}},ho=class extends Error{rule;constructor(e,t){super(`${e}: ${t}`),this.rule=e}};function K(e,t,n){if(!e)throw new ho(t,n)}const q=(e,t={})=>B.create(e,t);function go(e,t){let n=e.store.read(`Key`,H(e.header.signer_public_key));n?.duties.length&&(K(e.version>0,`rules-behind`,`key ${e.header.signer_public_key} has duties`),K(n.duties.includes(t),`duty-missing`,`key ${e.header.signer_public_key} has no duty ${t}`))}function _o(e){let t=e.store.read(`Key`,H(e.header.signer_public_key));return K(t&&t.owner===1&&!t.revoked,`not-the-party`,`key ${e.header.signer_public_key} is not a current key of a party`),t.owner_id}function vo(e,t){let n=e.store.read(`Key`,H(e.header.signer_public_key));return K(n&&n.owner===1&&n.owner_id===t&&!n.revoked,`not-the-party`,`key ${e.header.signer_public_key} is not a current key of party ${t}`),n}function yo(e,t,n,r,i){let a=t=>B.encode(`payload.${e}`,t??B.create(`payload.${e}`)),o=[...n.signed_by],s=!F(a(n.terms),a(r));return s&&(K(o.every(e=>e===i),`terms-differ`,`${t} was signed with other terms`),o=[]),K(!o.includes(i),`already-signed`,`${i} has already signed ${t}`),o.push(i),{terms:r,signed_by:o,both:o.length>1,replaced:s}}function bo(e,t,...n){let r=e.store.read(`Party`,V(t));return K(r,`unknown-party`,`party ${t} is not registered`),K(r.roles.some(e=>n.includes(e)),`role-missing`,`party ${t} has no such role`),r}function xo(e){let t=e.store.read(`Key`,H(e.header.signer_public_key));return K(t&&t.owner===2,`unknown-device`,`key ${e.header.signer_public_key} is no registered device's`),t}function So(e,t){let n=e.store.read(`Trip`,G(t));return K(n,`unknown-trip`,`trip ${t} was never started`),n}function Co(e,t){let n=e.store.read(`Delivery`,U(t));return K(n,`unknown-delivery`,`delivery ${t} does not exist`),n}const wo=e=>[e.carrier_id,...e.other_carrier_ids];var To=class{found=[];#e;constructor(e){this.#e=e}add(e,t,n={}){this.found.push(q(`state.Finding`,{...this.#e,rule:e,detail:t,...n}))}keep(e,t,n=ga(t,e.id)){this.found.length&&e.store.write(`Findings`,n,{findings:this.found})}};const Eo=10n**15n,Do=[`cleared`,`quarantined`,`recalled`],Oo=(e,t)=>e+t>Eo?Eo:e+t,J=e=>`lot ${e.gtin}:${e.lot}`,ko=e=>`${Do[e.status]} by ${e.party_id}`;function Ao(e,t){vo(e,t.party_id),bo(e,t.party_id,N.Role.MANUFACTURER,N.Role.SELLER),K(e.store.has(ra(t.site_id)),`unknown-site`,`site ${t.site_id} is not registered`);let n=oa(t.transformation_id);K(!e.store.has(n),`transformation-exists`,`transformation ${t.transformation_id} is on record`);let r=new To({transformation_id:t.transformation_id,transaction_id:e.id});for(let n of t.inputs)Mo(e,n,r);for(let n of t.outputs)No(e,n,t.party_id,r);e.store.write(`Transformation`,n,q(`state.Transformation`,{terms:t,findings:r.found}))}function jo(e,t){return e.store.read(`Lot`,aa(t.gtin,t.lot))??q(`state.Lot`,{gtin:t.gtin,lot:t.lot})}function Mo(e,t,n){let r={...jo(e,t)};e.version&&r.status&&r.status.status!==N.SetLotStatus_Status.CLEARED&&n.add(`lot-withheld`,`${J(t)} is ${ko(r.status)}`),r.party_id||(n.add(`lot-unknown`,`nobody is on record as the maker of ${J(t)}`),r.unit||=t.unit),r.unit===t.unit?r.used=Oo(r.used,t.quantity):n.add(`unit-mismatch`,`${J(t)} counts in ${r.unit}, not in ${t.unit}`),r.party_id&&r.used>r.made&&n.add(`lot-overdrawn`,`${r.used} ${r.unit} of ${J(t)} used, ${r.made} made`),e.store.write(`Lot`,aa(t.gtin,t.lot),r)}function No(e,t,n,r){let i={...jo(e,t)};i.party_id?(K(i.party_id===n,`lot-taken`,`${J(t)} is made by ${i.party_id}`),K(i.unit===t.unit,`unit-differs`,`${J(t)} is made in ${i.unit}`)):i.unit&&i.unit!==t.unit&&(r.add(`unit-mismatch`,`${J(t)} was used in ${i.unit}, is made in ${t.unit}`),i.used=0n),i.party_id=n,i.unit=t.unit,i.made=Oo(i.made,t.quantity),i.used>i.made&&r.add(`lot-overdrawn`,`${i.used} ${i.unit} of ${J(t)} used, ${i.made} made`),e.store.write(`Lot`,aa(t.gtin,t.lot),i)}function Po(e,t){vo(e,t.party_id);let n=e.store.read(`Party`,V(t.party_id))?.roles.includes(N.Role.AUTHORITY)??!1,r=e.store.read(`Lot`,aa(t.gtin,t.lot));K(r||n,`unknown-lot`,`${J(t)} is not on record`),K(n||r?.party_id===t.party_id,`not-the-party`,`${J(t)} is made by ${r?.party_id}`);let i={...r??q(`state.Lot`,{gtin:t.gtin,lot:t.lot})};i.status&&!n&&K(i.status.party_id===t.party_id,`not-the-party`,`${i.status.party_id} spoke of ${J(t)}`),i.status=t,e.store.write(`Lot`,aa(t.gtin,t.lot),i)}const{STATUS_UNSET:Fo,OFFERED:Io,OPEN:Lo,IN_TRANSIT:Ro,PART_DELIVERED:zo,DELIVERED:Bo,ACCEPTED:Vo,DISPUTED:Ho,CLOSED:Uo,CANCELLED:Wo,SETTLED:Go}=dr.Delivery_Status,{PAYMENT_NONE:Ko,DUE:qo}=N.Payment,Jo={[Io]:`offered`,[Lo]:`open`,[Ro]:`in-transit`,[zo]:`part-delivered`,[Bo]:`delivered`,[Vo]:`accepted`,[Ho]:`disputed`,[Uo]:`closed`,[Wo]:`cancelled`,[Go]:`settled`},Yo=e=>Jo[e.status]??`unknown`,Xo=e=>[Uo,Wo,Go].some(t=>t===e.status),Zo=[Lo,Ro,zo],Qo=e=>Zo.includes(e.status),$o=10n**15n,es=(e,t)=>e<t?e:t,ts=e=>es(e.quantity,$o),ns=(e,t)=>es(e.quantity||ts(t),$o);function rs(e){[e.status,e.payment]=[Lo,Ko],e.signed_by.length<2?e.status=Io:e.received_quantity>=ts(e.terms)?[e.status,e.payment]=[Bo,qo]:e.received_quantity>0n?e.status=zo:e.carried&&(e.status=Ro)}function is(e){if(e.holdings.length)return;let t=e.terms,n=e.custodian_id||t.seller_id;ss(e,n).quantity=ts(t),e.custodian_id=n,(n===t.buyer_id||[Bo,Vo,Uo].includes(e.status))&&(e.received_quantity=ts(t)),(n!==t.seller_id||e.received_quantity)&&(e.sent_quantity=ts(t)),e.carried||=![Fo,Io,Lo].includes(e.status)}function as(e){return!e.holdings.length&&Qo(e)&&(is(e),rs(e)),e}function os(e,t=``){t!==`closing`&&e.closing_signed_by.length===1&&(e.closing=void 0,e.closing_signed_by=[]),t!==`cancelling`&&e.cancelling_signed_by.length===1&&(e.cancelling=void 0,e.cancelling_signed_by=[])}function ss(e,t){let n=e.holdings.find(e=>e.party_id===t);return n||(n=q(`state.Holding`,{party_id:t}),e.holdings.push(n)),n}function cs(e){let t=e.terms,n=[t.buyer_id,...wo(t).reverse(),t.seller_id],r=e.holdings.filter(e=>e.quantity>=ts(t)).map(e=>e.party_id);return n.find(e=>r.includes(e))??``}function ls(e){return{...e,signed_by:[...e.signed_by],closing_signed_by:[...e.closing_signed_by],cancelling_signed_by:[...e.cancelling_signed_by],announced:[...e.announced],early:[...e.early],findings:[...e.findings],certificates:[...e.certificates],holdings:e.holdings.map(e=>({...e}))}}const{OFFERED:us,OPEN:ds,IN_TRANSIT:fs,PART_DELIVERED:ps,DELIVERED:ms,ACCEPTED:hs,DISPUTED:gs,CLOSED:_s,CANCELLED:vs,SETTLED:ys}=dr.Delivery_Status,{PAYMENT_NONE:bs,RELEASED:xs,WITHHELD:Ss}=N.Payment,Cs=86400000n,[ws,Ts]=[8,4],Es=e=>{let t=e.includes(`'`)&&!e.includes(`"`)?`"`:`'`;return t+e.replaceAll(`\\`,`\\\\`).replaceAll(t,`\\${t}`)+t};function Ds(e,t){let n=_o(e);return K([t.seller_id,t.buyer_id].includes(n),`not-the-party`,`signed by ${n}, which is neither seller nor buyer`),n}function Os(e,...t){K(t.includes(e.status),`wrong-state`,`delivery ${e.terms.delivery_id} is ${Yo(e)}`)}function ks(e,t){let n=ls(Co(e,t));return e.version?as(n):n}function As(e,t,n,r,i=``){e.version&&os(t,i),t.status=n,t.payment=r}const js=(e,t,n)=>e.store.write(`Delivery`,U(t),n);function Ms(e,t){let n=Ds(e,t);bo(e,t.seller_id,N.Role.SELLER);for(let n of wo(t))bo(e,n,N.Role.CARRIER);bo(e,t.buyer_id,N.Role.BUYER),t.authority_id&&bo(e,t.authority_id,N.Role.AUTHORITY);let r=ls(e.store.read(`Delivery`,U(t.delivery_id))??q(`state.Delivery`));e.version&&r.signed_by.length<2&&r.status&&Os(r,us);let i=yo(`OpenDelivery`,`delivery ${t.delivery_id}`,{terms:r.terms,signed_by:r.signed_by},t,n);K(!e.version||!(r.holdings.length||r.custodian_id)||!i.replaced,`terms-differ`,`goods of ${t.delivery_id} changed hands under other terms`),[r.terms,r.signed_by]=[i.terms,i.signed_by],e.version?(i.both&&Ns(e,r),rs(r)):(r.status=i.both?ds:us,i.both&&(r.custodian_id||=t.seller_id)),js(e,t.delivery_id,r)}function Ns(e,t){let n=t.terms;is(t),os(t),t.announced=[],t.agreed_at_s=e.block_s;let r=new To({delivery_id:n.delivery_id,transaction_id:e.id}),i=/* @__PURE__ */ new Map,a=(e,t)=>void i.set(e,[...i.get(e)??[],t]);for(let t of n.lots)Ps(e,t,n.items.find(e=>e.lot?.gtin===t.gtin&&e.lot.lot===t.lot),a);for(let t of n.units)e.store.packed.has(t)||a(`unit-unknown`,`nobody is on record as the packer of unit ${t}`);for(let[e,t]of i){let n=t.length-ws,i=t.slice(0,ws).join(`; `);r.add(e,n>0?`${i}; and ${n} more`:i)}for(let i of n.required_certificates){let n=(e.store.read(`Certificates`,ca(i.holder_id,i.kind))?.by_authority??[]).filter(e=>!e.revoked);n.length||r.add(`certificate-missing`,`${i.holder_id} holds no certificate ${Es(i.kind)}`),t.certificates.push(...n)}t.findings.push(...r.found)}function Ps(e,t,n,r){let i=e.store.read(`Lot`,aa(t.gtin,t.lot));i?.status&&i.status.status!==N.SetLotStatus_Status.CLEARED&&r(`lot-withheld`,`${J(t)} is ${ko(i.status)}`),i?.party_id||r(`lot-unknown`,`nobody is on record as the maker of ${J(t)}`),n&&i?.party_id&&(i.unit===n.unit?n.quantity>i.made&&r(`lot-overdrawn`,`${n.quantity} ${n.unit} of ${J(t)} sold, ${i.made} made`):r(`unit-mismatch`,`${J(t)} counts in ${i.unit}, not in ${n.unit}`))}function Fs(e,t){let n=ks(e,t.delivery_id),r=n.terms;if(e.version||vo(e,r.buyer_id),e.version?Os(n,ps,ms,gs):Os(n,ms,gs),e.version&&vo(e,r.buyer_id),K(n.status!==gs||n.disputed_by===r.buyer_id,`wrong-state`,`delivery ${t.delivery_id} is disputed by ${n.disputed_by}`),e.version||([n.closing,n.closing_signed_by]=[void 0,[]]),e.version){n.accepted_quantity=t.received_quantity;let[i,a]=[t.received_quantity,ts(r)],o=n.sent_quantity>n.returned_quantity?n.sent_quantity-n.returned_quantity:0n;if(i&&(i!==a||n.sent_quantity&&i!==o)){let s=new To({delivery_id:t.delivery_id,transaction_id:e.id});s.add(`quantity-differs`,`${i} ${r.unit} received, ${o} sent, ${a} ordered`),n.findings.push(...s.found)}}As(e,n,hs,xs),js(e,t.delivery_id,n)}function Is(e,t){let n=ks(e,t.delivery_id),r=Ds(e,n.terms);e.version?Os(n,ds,fs,ps,ms):Os(n,fs,ms),n.dispute=t,n.disputed_by=r,As(e,n,gs,Ss),js(e,t.delivery_id,n)}function Ls(e,t){let n=ks(e,t.delivery_id),r=Ds(e,n.terms);Os(n,hs,gs),K(n.status!==hs||t.payment===xs,`payment-differs`,`delivery ${t.delivery_id} was accepted`);let i=yo(`CloseDelivery`,`the end of ${t.delivery_id}`,{terms:n.closing,signed_by:n.closing_signed_by},t,r);[n.closing,n.closing_signed_by]=[i.terms,i.signed_by],i.both&&As(e,n,_s,t.payment,`closing`),js(e,t.delivery_id,n)}function Rs(e,t){let n=ks(e,t.delivery_id),r=Ds(e,n.terms);Os(n,us,ds,fs,ps,ms,gs);let i=n.status===us&&!n.holdings.length&&!n.custodian_id&&n.signed_by.includes(r)?{terms:t,signed_by:[r],both:!0}:yo(`CancelDelivery`,`the cancellation of ${t.delivery_id}`,{terms:n.cancelling,signed_by:n.cancelling_signed_by},t,r);[n.cancelling,n.cancelling_signed_by]=[i.terms,i.signed_by],i.both&&As(e,n,vs,bs,`cancelling`),js(e,t.delivery_id,n)}function zs(e,t,n){let r=t.terms;vo(e,n),bo(e,n,N.Role.AUTHORITY),K(![r.seller_id,r.buyer_id,...wo(r)].includes(n),`not-the-party`,`${n} is a party of the delivery`);let i=t.signed_by.length===2?r.authority_id:``;K(!i||i===n,`not-the-party`,`${i} is to settle the delivery`)}function Bs(e,t){let n=ks(e,t.delivery_id);Os(n,us,ds,fs,ps,ms,gs,hs),zs(e,n,t.authority_id),K(t.at_ms+Cs>=e.block_s*1000n,`antedated`,`the notice's time lies more than a day before its block`),n.announced=[...n.announced.filter(e=>e.authority_id!==t.authority_id).slice(-(Ts-1)),t],js(e,t.delivery_id,n)}function Vs(e,t){let n=ks(e,t.delivery_id),r=n.terms;Os(n,us,ds,fs,ps,ms,gs,hs),zs(e,n,t.authority_id),K(n.status!==hs||t.payment===xs,`payment-differs`,`delivery ${t.delivery_id} was accepted`),K(n.status!==us||t.payment===Ss,`payment-differs`,`delivery ${t.delivery_id} is an offer`);let i=n.announced.find(e=>e.authority_id===t.authority_id),a=n.signed_by.length===2?r.deadline_ms:0n,o=i&&i.at_ms+(a?365n:30n)*Cs;if(!a&&!o)throw new ho(`not-announced`,`${t.authority_id} has not given notice`);let s=[a,o].filter(e=>!!e).reduce((e,t)=>t<e?t:e);K(t.at_ms>=s&&(!e.block_s||e.block_s*1000n>=s),`too-early`,`the time to settle is ${s} ms`),n.settlement=t,As(e,n,ys,t.payment),js(e,t.delivery_id,n)}const Hs=10n**15n,Us=1n<<63n,Y=(e,t)=>K(e,`form`,t),X=(e,t)=>Y(di(e),`${t} ${e} is no id`),Ws=e=>Y(pi(e),`trip_id ${e} is no trip's id`),Z=(e,t)=>Y(e<=jr,`${t} ${e} is after the year 9999`),Gs=(e,t)=>Y(ii(e,200),`${t} is not 1 to 200 characters of text`),Ks=(e,t)=>Y(e.length===32,`${t} is ${e.length} bytes, not 32`),Q=(e,t,n)=>Y(e.length<=t,`${e.length} ${n}, at most ${t} are allowed`);function $(e,t){Y(new Set(e).size===e.length,`${t} has something twice`)}function qs(e,t=`public_keys`){Q(e,16,t);for(let n of e)Y(fi(n),`${n} in ${t} is no public key`);$(e,t)}function Js(e,t){Y(_i(e.gtin),`${e.gtin} is no GTIN`),Y(t?ui(e.lot):ii(e.lot,20),`lot is no lot number`)}function Ys(e,t,n){Y(e>=1n,`quantity is 0`),Y(hi(t,n),`${t} is no unit`)}function Xs(e,t){for(let n of e)Js(n,t),Ys(n.quantity,n.unit,t),Y(n.quantity<=Hs,`quantity ${n.quantity} is over ${Hs}`);$(e.map(e=>`${e.gtin}\0${e.lot}`),`lots`)}function Zs(e,t){$(e.map(e=>e.public_key),`key_duties`);for(let n of e)Y(t.includes(n.public_key),`key_duties name ${n.public_key}, which is not added`),Y(n.duties.length>0&&n.duties.every(e=>e>=1&&e<=6),`duties are malformed`),$(n.duties.map(String),`duties`)}function Qs(e){e&&(Y(Math.abs(e.latitude_e7)<=9e8,`latitude ${e.latitude_e7} is out of range`),Y(Math.abs(e.longitude_e7)<=18e8,`longitude ${e.longitude_e7} is out of range`))}function $s(e,t){if(!e)return Y(!t,`there is no clock`);Z(e.utc_ms,`utc_ms`),Y(e.monotonic_ms<Us,`monotonic_ms is out of range`),Y(e.boot_id.length===16,`boot_id is ${e.boot_id.length} bytes, not 16`),Y(e.origin>=0&&e.origin<=3,`origin ${e.origin} is unknown`)}function ec(e){for(let t of[e.remarks,e.filmed,e.film])Q(t,32,`remarks, whole recordings or moments of films`);for(let t of e.remarks){let e=t.kind>=32;Y(e?t.kind<=N.Remark_Kind.CLOCK_CORRECTED:t.kind>=1&&t.kind<=N.Remark_Kind.CARD_READ_ONLY,`a remark is of unknown kind ${t.kind}`),t.subject&&X(t.subject,`subject`),Y(!(t.ended&&e),`a remark of kind ${t.kind} has no end`),Z(t.since_ms,`since_ms`),Y(t.amount<Us,`amount is out of range`)}for(let t of e.filmed)Ks(t.sha256,`sha256`),Y(t.size<Us,`size is out of range`);for(let t of e.film)X(t.pseudo_file_id,`pseudo_file_id`),Z(t.offset_ms,`offset_ms`)}function tc(e,t){$s(e.clock,!0);let n=(e,t,n,r)=>Y(e===void 0||e>=t&&e<=n,`${r} ${e} is out of range`);n(e.temperature_mcel,-273150,1e6,`temperature_mcel`),n(e.humidity_mpct,0,1e5,`humidity_mpct`),n(e.pressure_pa,0,2e6,`pressure_pa`),Qs(e.position),Y(e.tamper_flags<(t<2?64:512),`tamper_flags ${e.tamper_flags} are unknown`),ec(e)}function nc(e,t){Y(e.quantity>=1&&e.quantity<=3,`quantity ${e.quantity} is unknown`),Y(e.minimum!==void 0||e.maximum!==void 0,`a limit has neither minimum nor maximum`),Y(e.minimum===void 0||e.maximum===void 0||e.minimum<=e.maximum,`a limit's minimum is above its maximum`),Y(t||e.longest_silence_s===0,`longest_silence_s is not of these rules`)}function rc(e,t){let n=[e.carrier_id,...e.other_carrier_ids],r=[e.seller_id,...n,e.buyer_id];Q(e.other_carrier_ids,8,`other_carrier_ids`),$(n,`carriers`),Y(!e.other_carrier_ids.some(t=>[e.seller_id,e.buyer_id].includes(t)),`seller and buyer are not among the other carriers`),Z(e.deadline_ms,`deadline_ms`),Y(!e.authority_id||!r.includes(e.authority_id),`the authority is a party of the delivery`);let i=e=>`${e?.gtin??``}\0${e?.lot??``}`,a=e.items.map(e=>i(e.lot)),o=new Set(e.lots.map(i));Y(!a.length||a.length===o.size&&new Set(a).size===o.size&&a.every(e=>o.has(e)),`items are not of each lot once`);for(let n of e.items)Gs(n.product,`product`),Ys(n.quantity,n.unit,t);Q(e.units,100,`units`);for(let t of e.units)Y(yi(t),`${t} is no SSCC`);$(e.units,`units`),Q(e.required_certificates,16,`required_certificates`);for(let t of e.required_certificates)Y(r.includes(t.holder_id),`${t.holder_id} is no party of the delivery`),Gs(t.kind,`kind`);$(e.required_certificates.map(e=>`${e.holder_id}\0${e.kind}`),`required_certificates`)}const ic={register_party(e){X(e.party_id,`party_id`),Gs(e.name,`name`),qs(e.public_keys),Y(e.roles.every(e=>e>=1&&e<=5),`a role is unknown`),$(e.roles.map(String),`roles`),Zs(e.key_duties,e.public_keys),Y(!e.public_keys.length||oc(e.public_keys,e.key_duties),`no key may rotate keys`)},rotate_keys(e){X(e.party_id,`party_id`),qs(e.added,`added`),qs(e.revoked,`revoked`),Y(e.added.length+e.revoked.length,`no key is named`),$([...e.added,...e.revoked],`added and revoked`),Zs(e.key_duties,e.added)},register_site(e){X(e.site_id,`site_id`),Gs(e.name,`name`),Y(e.gln===``||vi(e.gln),`${e.gln} is no GLN`),qs(e.gateway_public_keys,`gateway_public_keys`),Qs(e.position),Y(!e.position==(e.radius_m===0),`position and radius_m go together`),Y(e.radius_m<=1e5,`radius_m ${e.radius_m} is over 100000`)},register_device(e){X(e.device_id,`device_id`),qs(e.public_keys),Z(e.calibrated_until_ms,`calibrated_until_ms`)},certify_party(e){X(e.party_id,`party_id`),X(e.holder_id,`holder_id`),Gs(e.kind,`kind`),Y(e.document_sha256.length===0||e.document_sha256.length===32,`document_sha256 is not 32 bytes`);for(let t of[e.valid_from_ms,e.valid_until_ms,e.at_ms])Z(t,`a time`);Y(e.valid_from_ms<=e.valid_until_ms,`the certificate ends before it begins`)},open_delivery(e,t){X(e.delivery_id,`delivery_id`),X(e.order_id,`order_id`),Gs(e.product,`product`),Y(e.lots.length>=1&&e.lots.length<=100,`${e.lots.length} lots, 1 to 100 are allowed`);for(let n of e.lots)Js(n,t);Ys(e.quantity,e.unit,t),Y(e.seller_id!==e.buyer_id,`seller and buyer are the same party`);for(let t of[e.payment_terms_sha256,e.price_sha256])t.length&&Ks(t,`a hash`);Q(e.limits,16,`limits`),$(e.limits.map(e=>String(e.quantity)),`limits`);for(let n of e.limits)nc(n,t);t&&rc(e,t)},start_trip(e){X(e.device_id,`device_id`);let t=j(Fn(M(Ln(`wayseal trip\0${e.device_id}\0`),e.nonce))).slice(0,32);K(e.nonce.length===16&&e.trip_id===t,`trip-id`,`trip ${e.trip_id} is not derived from device and nonce`);for(let t of[e.origin_site_id,...e.via_site_ids,e.destination_site_id])X(t,`a site`);Q(e.via_site_ids,32,`via_site_ids`);for(let t of e.delivery_ids)X(t,`delivery_ids`);Q(e.delivery_ids,32,`delivery_ids`),$(e.delivery_ids,`delivery_ids`);for(let t of e.other_device_ids)X(t,`other_device_ids`);Q(e.other_device_ids,16,`other_device_ids`),$([e.device_id,...e.other_device_ids],`devices`),Z(e.started_at_ms,`started_at_ms`),Q(e.derived_from,16,`derived_from`);for(let t of e.derived_from)Ks(t.sha256,`sha256`);e.previous_seal_sha256.length&&Ks(e.previous_seal_sha256,`previous_seal_sha256`),$s(e.clock,!1),Y(!e.clock||e.clock.utc_ms===e.started_at_ms,`the clock's UTC is not started_at_ms`)},record_reading(e,t){Ws(e.trip_id),X(e.device_id,`device_id`),ac(e.sequence,e.previous_sha256),tc(e,t)},record_run(e,t){Ws(e.trip_id),X(e.device_id,`device_id`),Y(e.readings.length>=1&&e.readings.length<=300,`${e.readings.length} readings, 1 to 300 are allowed`),ac(e.first_sequence,e.previous_sha256),Y(e.first_sequence+BigInt(e.readings.length)<=Us,`sequence is out of range`);for(let n of e.readings)tc(n,t)},seal_trip(e){Ws(e.trip_id),X(e.device_id,`device_id`),e.reading_count?Ks(e.head_sha256,`head_sha256`):Y(e.head_sha256.length===0,`head_sha256 of no reading`),Q(e.recordings,512,`recordings`);let t=e.recordings.map(e=>(Ks(e.sha256,`sha256`),j(e.sha256)));$(t,`recordings`),Y(t.join()===[...t].sort().join(),`recordings are not sorted`),$s(e.clock,!0)},record_video(e){Ws(e.trip_id),Z(e.started_at_ms,`started_at_ms`),Z(e.duration_ms,`duration_ms`),Ks(e.sha256,`sha256`),Ks(e.tree_root,`tree_root`),Y(e.size<Us,`size is out of range`)},hand_over(e,t){if(Ws(e.trip_id),Z(e.at_ms,`at_ms`),t){Y(e.at_ms>0n,`at_ms is 0`),Y(e.quantity<=Hs,`quantity ${e.quantity} is over ${Hs}`),Q(e.seal_numbers,8,`seal_numbers`);for(let t of e.seal_numbers)Y(mi(t),`${t} is no seal's number`);$(e.seal_numbers,`seal_numbers`)}},transform_lots(e,t){X(e.transformation_id,`transformation_id`),Q(e.inputs,50,`inputs`),Y(e.outputs.length>=1&&e.outputs.length<=50,`${e.outputs.length} outputs, 1 to 50 are allowed`),Xs([...e.inputs,...e.outputs],t),Z(e.at_ms,`at_ms`)},accept_delivery(e){X(e.delivery_id,`delivery_id`),Z(e.at_ms,`at_ms`),Y(e.received_quantity<=Hs,`received_quantity is out of range`)},dispute_delivery(e){X(e.delivery_id,`delivery_id`),Gs(e.reason,`reason`),Z(e.at_ms,`at_ms`)},close_delivery(e){X(e.delivery_id,`delivery_id`),Y(e.payment===N.Payment.RELEASED||e.payment===N.Payment.WITHHELD,`payment is neither released nor withheld`),Z(e.at_ms,`at_ms`)},cancel_delivery(e){X(e.delivery_id,`delivery_id`),Gs(e.reason,`reason`),Z(e.at_ms,`at_ms`)},announce_settlement(e){X(e.delivery_id,`delivery_id`),Gs(e.reason,`reason`),Z(e.at_ms,`at_ms`)},settle_delivery(e){X(e.delivery_id,`delivery_id`),Y(e.payment===N.Payment.RELEASED||e.payment===N.Payment.WITHHELD,`payment is neither released nor withheld`),Gs(e.reason,`reason`),Z(e.at_ms,`at_ms`)},close_trip(e){Ws(e.trip_id),Z(e.at_ms,`at_ms`)},place_hold(e){Ws(e.trip_id),X(e.hold_id,`hold_id`),Gs(e.reason,`reason`),Z(e.at_ms,`at_ms`)},release_hold(e){Ws(e.trip_id),X(e.hold_id,`hold_id`),Z(e.at_ms,`at_ms`)},set_lot_status(e,t){X(e.party_id,`party_id`),Js(e,t),Y(e.status>=0&&e.status<=2,`status ${e.status} is unknown`),Gs(e.reason,`reason`),Z(e.at_ms,`at_ms`)},pack_unit(e,t){X(e.party_id,`party_id`),Y(yi(e.sscc),`${e.sscc} is no SSCC`),Q(e.lots,100,`lots`),Q(e.units,100,`units`),Xs(e.lots,t);for(let t of e.units)Y(yi(t),`${t} is no SSCC`);$(e.units,`units`),Z(e.at_ms,`at_ms`)},commit_accesses(e){X(e.site_id,`site_id`),Ks(e.record_sha256,`record_sha256`),Ks(e.sha256,`sha256`);for(let t of[`sequence`,`number`])Y(e[t]>0n&&e[t]<Us,`${t} ${e[t]} is out of range`);Y(e.number>1n||j(e.sha256)===j(e.record_sha256),`the hash of access 1 is not the record's`),Z(e.at_ms,`at_ms`)}};function ac(e,t){Y(e<Us,`sequence is out of range`),e===0n?Y(t.length===0,`the first reading names one before it`):Ks(t,`previous_sha256`)}function oc(e,t){return e.some(e=>{let n=t.find(t=>t.public_key===e);return!n||n.duties.includes(N.KeyDuties_Duty.KEYS)})}function sc(e,t,n){ic[e](t,n)}function cc(e,t,n){let{c:r,trip:i,chain:a,notes:o}=e;if(e.revoked)return;let s=i.deliveries[t]?.delivery_id,c=U(s),l=(n,r)=>{a.unmarked.includes(t)||(a.unmarked=[...a.unmarked,t],o.add(n,r,{sequence:e.sequence}))};if(!r.declared.has(c))return l(`delivery-not-declared`,`the reading cannot mark delivery ${s}`);let u=r.store.read(`Delivery`,c);if(!u)return;let d=u.terms,f=r.store.read(`Device`,ia(a.device_id))?.party_id??``,p=wo(d);if(!p.includes(f))return l(`carrier-mismatch`,`a device of ${f} does not mark delivery ${s}, which ${p.join(`, `)} carries`);let m=ls(u);n(m),r.store.write(`Delivery`,c,m)}const{OFFERED:lc,OPEN:uc,IN_TRANSIT:dc,CLOSED:fc,CANCELLED:pc,SETTLED:mc}=dr.Delivery_Status;function hc(e,t){let n=xo(e);K(n.owner_id===t.device_id,`unknown-device`,`key ${e.header.signer_public_key} is not of device ${t.device_id}`),K(!e.store.has(G(t.trip_id)),`trip-exists`,`trip ${t.trip_id} was started before`);let r=new To({trip_id:t.trip_id,device_id:t.device_id,transaction_id:e.id});n.revoked&&r.add(`key-revoked`,`key ${e.header.signer_public_key} was revoked`);for(let n of/* @__PURE__ */ new Set([t.origin_site_id,...t.via_site_ids,t.destination_site_id]))e.store.has(ra(n))||r.add(`site-unknown`,`site ${Es(n)} is not registered`);let i=e.store.read(`Device`,ia(t.device_id)),a=q(`state.Trip`,{start:t,party_ids:[i.party_id]});if(e.version){let n=e.store.read(`Site`,ra(t.destination_site_id))?.site;if(n?.radius_m){let{site_id:e,position:t,radius_m:r}=n;a.destination=q(`payload.RegisterSite`,{site_id:e,position:t,radius_m:r})}a.carrier_id=i.party_id}for(let o of t.delivery_ids)gc(e,a,o,i.party_id,n.revoked,r);if(a.party_ids=[...new Set(a.party_ids)].sort(),e.version&&!t.derived_from.length){a.begun_at_s=e.block_s;let n=Fr(t.clock?.utc_ms??t.started_at_ms,e.block_s,a);n&&r.add(`time-implausible`,n)}e.store.write(`Trip`,G(t.trip_id),a),r.keep(e,t.trip_id)}function gc(e,t,n,r,i,a){let o=e.store.read(`Delivery`,U(n));if(!o)return a.add(`delivery-unknown`,`delivery ${n} does not exist`);let s=ls(o),[c,l]=[t.start,s.terms],u=wo(l);t.party_ids.push(l.seller_id,...u,l.buyer_id);let d=q(`state.TripLimits`,{delivery_id:l.delivery_id,limits:l.limits});e.version&&(d.agreed_at_s=s.agreed_at_s,d.limits=l.limits.map(e=>({...e,longest_silence_s:Dc(e)})));let f=s.early.filter(e=>e.trip_id===c.trip_id);s.early=s.early.filter(e=>e.trip_id!==c.trip_id);for(let e of f)tl(c,e,a);for(let e of f)Bc(d,t.carrier_id,e,l);let p=e.version>0&&vc(s,c.started_at_ms);p||t.deliveries.push(d);let m=!i&&!p,h=()=>e.store.write(`Delivery`,U(n),s);u.includes(r)?(p||!(e.version?_c(s,f):s.status===uc)?a.add(`delivery-not-open`,`delivery ${n} is ${Yo(s)}`):!i&&!e.version&&(s.status=dc,h()),yc(s,c.started_at_ms,a),e.version&&(f.length||m)&&(s.carried||=m,m&&(s.trips+=1n),Qo(s)&&rs(s),h())):(a.add(`carrier-mismatch`,`${n} is to be carried by ${u.join(`, `)}, not by ${r}`),f.length&&h())}function _c(e,t){if(as(e),e.status===lc||!t.length)return Qo(e);let n=e.terms,r=t.filter(e=>e.to_party_id===n.buyer_id).reduce((e,t)=>e+ns(t,n),0n);return e.received_quantity-r<ts(n)}function vc(e,t){let n={[fc]:e.closing,[pc]:e.cancelling,[mc]:e.settlement}[e.status];return Xo(e)&&t>(n?.at_ms??0n)}function yc(e,t,n){for(let r of e.terms?.required_certificates??[]){let i=e.certificates.filter(e=>e.holder_id===r.holder_id&&e.kind===r.kind);i.length&&!i.some(e=>e.valid_from_ms<=t&&t<=e.valid_until_ms)&&n.add(`certificate-expired`,`the certificate ${Es(r.kind)} of ${r.holder_id} is not valid then`)}}function bc(e,t){vo(e,t.party_id);let n=So(e,t.trip_id);K(n.party_ids.includes(t.party_id),`not-the-party`,`trip ${t.trip_id} does not concern ${t.party_id}`),K(!n.close,`trip-closed`,`trip ${t.trip_id} was closed before`);let r=new To({trip_id:t.trip_id,transaction_id:e.id}),i=n.start,a={...n,close:t,missing:[...n.missing]};for(let n of[i.device_id,...i.other_device_ids]){let i=e.store.read(`Chain`,pa(t.trip_id,n));if(!i?.seal){r.add(`seal-missing`,`${n} has not sealed the trip`,{device_id:n});continue}let a=new Set(i.recorded_videos.map(j)),o=i.seal.recordings.map(e=>j(e.sha256)).filter(e=>!a.has(e));if(o.length){let e=[...o.slice(0,8),...o.length>8?[`…`]:[]].join(`, `);r.add(`recording-missing`,`${o.length} of ${i.seal.recordings.length} sealed recordings were not recorded: ${e}`,{device_id:n})}}e.version&&xc(e,a,r),e.store.write(`Trip`,G(t.trip_id),a),r.keep(e,t.trip_id)}function xc(e,t,n){let r=t.start,i=[r.device_id,...r.other_device_ids].map(t=>e.store.read(`Chain`,pa(r.trip_id,t))),a=[...new Set(t.deliveries.flatMap(e=>e.limits.map(e=>e.quantity)))].filter(e=>!i.some(t=>t?.silences.some(t=>t.quantity===e&&t.measured)));for(let e of a)t.missing.includes(e)||(t.missing.push(e),n.add(`quantity-missing`,`${Sc[e]} is limited, and no device of the trip measured it`));return a}const Sc={1:`temperature`,2:`humidity`,3:`pressure`};function Cc(e,t){vo(e,t.party_id),K(So(e,t.trip_id).party_ids.includes(t.party_id)||e.store.read(`Party`,V(t.party_id))?.roles.includes(N.Role.AUTHORITY),`not-the-party`,`trip ${t.trip_id} does not concern ${t.party_id}`);let n=_a(t.trip_id,t.hold_id);K(!e.store.has(n),`hold-exists`,`hold ${t.hold_id} was placed before`),e.store.write(`Hold`,n,q(`state.Hold`,{placed:t}))}function wc(e,t){vo(e,t.party_id),So(e,t.trip_id);let n=_a(t.trip_id,t.hold_id),r=e.store.read(`Hold`,n);K(r?.placed,`unknown-hold`,`hold ${t.hold_id} was never placed`),K(r.placed.party_id===t.party_id,`not-the-party`,`${r.placed.party_id} placed the hold`),K(!r.released,`hold-released`,`hold ${t.hold_id} was released before`),e.store.write(`Hold`,n,{...r,released:t})}function Tc(e,t){let n=xo(e),r=So(e,t.trip_id);K(n.owner_id===t.device_id,`unknown-device`,`key ${e.header.signer_public_key} is not of device ${t.device_id}`);let i=e.store.read(`Chain`,pa(t.trip_id,t.device_id));K(i?.seal,`not-sealed`,`device ${t.device_id} has not sealed the trip`),K(t.seal_transaction_id===i.seal_transaction_id&&e.header.dependencies.includes(t.seal_transaction_id),`seal-not-named`,`the digest does not name its seal`),K(i.count>=i.seal.reading_count,`readings-missing`,`${i.count} of ${i.seal.reading_count} readings are committed`);let a=new To({trip_id:t.trip_id,device_id:t.device_id,transaction_id:e.id});n.revoked&&a.add(`key-revoked`,`key ${e.header.signer_public_key} was revoked`),r.close&&a.add(`after-close`,`${r.close.party_id} had closed the trip`);let o=j(t.sha256);i.recorded_videos.some(e=>j(e)===o)?a.add(`recording-repeated`,`${o} was recorded before`):i.seal.recordings.some(e=>j(e.sha256)===o&&e.size===t.size)?e.store.write(`Chain`,pa(t.trip_id,t.device_id),{...i,recorded_videos:[...i.recorded_videos,t.sha256]}):a.add(`recording-not-sealed`,`the seal does not name ${o} with ${t.size} bytes`),a.keep(e,t.trip_id)}function Ec(e,t,n){return e.store.read(`Chain`,pa(t.start.trip_id,n))??q(`state.Chain`,{device_id:n})}const Dc=e=>e.longest_silence_s||900;function Oc(e){let t=/* @__PURE__ */ new Map;for(let n of e.deliveries.flatMap(e=>e.limits))t.set(n.quantity,Math.min(Dc(n),t.get(n.quantity)??Dc(n)));return t}function kc(e,t){switch(t){case N.Limit_Quantity.TEMPERATURE_MCEL:return e.temperature_mcel;case N.Limit_Quantity.HUMIDITY_MPCT:return e.humidity_mpct;default:return e.pressure_pa}}const Ac=(e,t)=>e.start?.device_id===t;function jc(e){return{utc_ms:e.last_utc_ms,monotonic_ms:e.last_monotonic_ms,boot_id:e.last_boot_id}}function Mc(e,t){if(t.count)return jc(t);let n=e.start;if(Ac(e,t.device_id))return n.clock??{utc_ms:n.started_at_ms,monotonic_ms:0n,boot_id:/* @__PURE__ */ new Uint8Array}}function Nc(e,t,n){let r=Oc(e.trip);if(Ac(e.trip,e.chain.device_id)&&!e.chain.count)for(let t of r.keys())Pc(e.chain,t);for(let t of e.chain.silences)t.silent_ms+=n;for(let n of r.keys()){if(kc(t,n)===void 0)continue;let r=Pc(e.chain,n);Lc(e,r),r.measured||(r.first_ms=e.clock.utc_ms),r.measured=!0,r.silent_ms=0n,r.last_ms=e.clock.utc_ms,r.last_sequence=e.sequence}for(let t of e.chain.silences)t.silent_ms=Mr(t.silent_ms)}function Pc(e,t){let n=e.silences.find(e=>e.quantity===t);return n||(n=q(`state.Silence`,{quantity:t}),e.silences.push(n)),n}function Fc(e,t){let n=e.chain.silences.length;for(let n of Oc(e.trip).keys()){let r=Ac(e.trip,e.chain.device_id)&&!e.chain.count?Pc(e.chain,n):e.chain.silences.find(e=>e.quantity===n);r&&(r.silent_ms=Mr(r.silent_ms+t),r.measured?Lc(e,r):r.silent_ms>r.longest_ms&&(r.longest_ms=r.silent_ms))}Ic(e.trip,e.chain,n)}function Ic(e,t,n){let r=[...Oc(e).keys()],i=t.silences.splice(n).sort((e,t)=>r.indexOf(e.quantity)-r.indexOf(t.quantity));t.silences.push(...i)}function Lc(e,t){t.silent_ms>t.longest_ms&&(t.longest_ms=Mr(t.silent_ms));let n=BigInt(Oc(e.trip).get(t.quantity)??0);if(t.silent_ms<=n*1000n)return;t.gaps+=1;let r=Sc[t.quantity];if(t.gaps<=64){let i=t.measured?`reading ${t.last_sequence}`:`the trip's start`;e.notes.add(`recording-gap`,`${r} was not measured for ${t.silent_ms} ms after ${i}, ${n} s are allowed`,{sequence:e.sequence})}else t.gaps===65&&e.notes.add(`recording-gap`,`64 gaps of ${r} are told; from here on they are counted only`,{sequence:e.sequence});Rc(e,t.quantity,t.silent_ms)}function Rc(e,t,n){e.trip.deliveries.forEach((r,i)=>{let a=r.limits.find(e=>e.quantity===t);a&&n>BigInt(Dc(a))*1000n&&cc(e,i,e=>{e.silences+=1})})}function zc(e,t,n){let r=wo(n),[i,a]=[r.includes(t.from_party_id),r.includes(t.to_party_id)],o=[];return(a&&!i||t.to_party_id===e)&&o.push(`received`),(i&&!a||t.from_party_id===e)&&o.push(`given`),o}function Bc(e,t,n,r){for(let i of zc(t,n,r))i===`given`?e.given_at_ms=n.at_ms>e.given_at_ms?n.at_ms:e.given_at_ms:(!e.received_at_ms||n.at_ms<e.received_at_ms)&&(e.received_at_ms=n.at_ms)}function Vc(e,t){let n=t.start,r=[n.device_id,...n.other_device_ids].map(t=>e.store.read(`Chain`,pa(n.trip_id,t)));return r.every(e=>!!e?.seal)?r:void 0}function Hc(e,t,n,r,i,a){let o={...t,deliveries:t.deliveries.map(e=>({...e}))},s=Vc(e,o);for(let e of o.deliveries.filter(e=>e.delivery_id===n.delivery_id)){Bc(e,o.carrier_id,n,r);for(let t of s?zc(o.carrier_id,n,r):[])Jc(s,e,t,i,()=>{a.silences+=1})}e.store.write(`Trip`,G(o.start.trip_id),o)}function Uc(e){let{c:t}=e,n={...e.trip,missing:[...e.trip.missing]},r=Vc(t,n);if(r){let i=xc(t,n,e.notes);for(let t of Oc(n).keys())i.includes(t)?Wc(e,t,()=>!0):Kc(e,r,t);n.deliveries.forEach((t,n)=>{for(let i of[`received`,`given`])Jc(r,t,i,e.notes,()=>cc(e,n,e=>{e.silences+=1}))})}t.store.write(`Trip`,G(n.start.trip_id),n)}function Wc(e,t,n){e.trip.deliveries.forEach((r,i)=>{r.limits.some(e=>e.quantity===t&&n(e))&&cc(e,i,e=>{e.silences+=1})})}const Gc=(e,t)=>e.silences.find(e=>e.quantity===t&&e.measured);function Kc(e,t,n){if(Gc(t[0],n))return;let r=t.flatMap(e=>Gc(e,n)?.first_ms??[]).reduce((e,t)=>e<t?e:t)-e.trip.start.started_at_ms,i=Oc(e.trip).get(n)??0;r<=BigInt(i)*1000n||(e.notes.add(`recording-gap`,`no device measured ${Sc[n]} for ${r} ms after the trip's start, ${i} s are allowed`),Wc(e,n,e=>r>BigInt(Dc(e))*1000n))}function qc(e,t){let n=Gc(e,t.quantity);if(n)return n.silent_ms>BigInt(Dc(t))*1000n?e.seal?.clock?.utc_ms:n.last_ms}function Jc(e,t,n,r,i){let a=e.filter(e=>e.live),o=n===`received`?t.received_at_ms:t.given_at_ms;if(o)for(let e of t.limits){let s=a.flatMap(t=>(n===`received`?Gc(t,e.quantity)?.first_ms:qc(t,e))??[]);if(!s.length)continue;let c=n===`received`?s.reduce((e,t)=>e<t?e:t)-o:o-s.reduce((e,t)=>e>t?e:t);if(c<=BigInt(Dc(e))*1000n)continue;let l=Sc[e.quantity],u=n===`received`?`after the carrier got ${t.delivery_id}`:`before the carrier gave ${t.delivery_id} away`;r.add(`recording-gap`,`${l} was not measured for ${c} ms ${u}, ${Dc(e)} s are allowed`),i()}}const{OPEN:Yc,IN_TRANSIT:Xc,DELIVERED:Zc}=dr.Delivery_Status,Qc=9n*10n**15n;function $c(e,t){let n=_o(e),r=e.store.read(`Trip`,G(t.trip_id));K(r||e.version,`unknown-trip`,`trip ${t.trip_id} was never started`),K(!r||r.start?.delivery_ids.includes(t.delivery_id),`not-on-trip`,`the trip does not carry ${t.delivery_id}`);let i=ls(Co(e,t.delivery_id));e.version&&as(i);let a=i.terms;K(e.store.has(ra(t.site_id)),`unknown-site`,`site ${t.site_id} is not registered`);let o=[a.seller_id,a.buyer_id,...wo(a)];K(t.from_party_id!==t.to_party_id&&o.includes(t.from_party_id)&&o.includes(t.to_party_id),`not-the-party`,`not between two of the delivery's parties`),K([t.from_party_id,t.to_party_id].includes(n),`not-the-party`,`signed by ${n}, which is neither giver nor taker`),e.version&&el(t,a);let s=ma(t.trip_id,t.delivery_id,t.site_id,t.from_party_id,t.to_party_id),c=e.store.read(`HandOverState`,s),l=yo(`HandOver`,`the handover of ${t.delivery_id}`,{terms:c?.terms,signed_by:c?.signed_by??[]},t,n);if(e.store.write(`HandOverState`,s,q(`state.HandOverState`,{terms:l.terms,signed_by:l.signed_by})),!l.both)return;let u=new To({trip_id:t.trip_id,delivery_id:e.version?t.delivery_id:``,transaction_id:e.id});r?(tl(r.start,t,u),e.version&&Hc(e,r,t,a,u,i)):(K(i.early.length<8,`unknown-trip`,`8 handovers of ${t.delivery_id} wait for their trips`),i.early.push(t)),e.version?il(i,t,u):nl(i,t,u),e.store.write(`Delivery`,U(t.delivery_id),i),u.keep(e,t.trip_id)}function el(e,t){let n=e.from_party_id===t.buyer_id||e.to_party_id===t.seller_id,r=e.from_party_id===t.seller_id||e.to_party_id===t.buyer_id;K(!(n&&!e.returned)&&!(r&&e.returned),`wrong-direction`,`the handover goes the other way`)}function tl(e,t,n){[e.origin_site_id,e.destination_site_id,...e.via_site_ids].includes(t.site_id)||n.add(`site-not-on-trip`,`the trip does not name site ${t.site_id}`)}function nl(e,t,n){e.custodian_id!==t.from_party_id&&n.add(`custody-gap`,`${t.delivery_id} was with ${e.custodian_id||`nobody`}, not with ${t.from_party_id}`),e.custodian_id=t.to_party_id,t.to_party_id===e.terms?.buyer_id&&(e.status===Yc||e.status===Xc)&&(e.status=Zc,e.payment=N.Payment.DUE)}const rl=(e,t)=>e+t>Qc?Qc:e+t;function il(e,t,n){let r=e.terms;is(e);let i=ns(t,r),a=ss(e,t.from_party_id),o=ss(e,t.to_party_id);a.quantity<i&&n.add(`custody-gap`,`${t.from_party_id} hands over ${i} ${r.unit} of ${t.delivery_id} and has ${Nr(a.quantity,0n)} on record`),al(t.from_party_id,a.received_seals,t.seal_numbers,t,n),o.quantity<0n&&al(t.to_party_id,t.seal_numbers,o.given_seals,t,n),a.quantity=Nr(a.quantity-i,-Qc),o.quantity=rl(o.quantity,i),a.given_seals=[...t.seal_numbers],o.received_seals=[...t.seal_numbers],t.to_party_id===r.seller_id?e.returned_quantity=rl(e.returned_quantity,i):t.from_party_id===r.seller_id&&(e.sent_quantity=rl(e.sent_quantity,i)),t.to_party_id===r.buyer_id&&(e.received_quantity=rl(e.received_quantity,i)),e.custodian_id=cs(e),os(e),Qo(e)&&rs(e)}function al(e,t,n,r,i){if(!t.length||ol(t,n))return;let a=e=>[...e].sort().join(`, `);i.add(`seal-number-differs`,`${e} received ${r.delivery_id} under seals ${a(t)} and hands it over under ${a(n)||`none`}`)}const ol=(e,t)=>e.length===t.length&&e.every(e=>t.includes(e)),{PARTY:sl,DEVICE:cl}={PARTY:1,DEVICE:2};function ll(e,t){return[...e.find(e=>e.public_key===t)?.duties??[]]}function ul(e,t,n,r){let i=e.store.read(`Key`,H(t));if(i)return K(i.owner===n&&i.owner_id===r,`key-taken`,`key ${t} belongs to another owner`),K(!i.revoked,`key-was-revoked`,`key ${t} was revoked`),i}function dl(e,t){let n=e.store.read(`Key`,H(t));n&&e.store.write(`Key`,H(t),q(`state.Key`,{owner:n.owner,owner_id:n.owner_id,revoked:!0}))}function fl(e,t,n,r,i,a){e.store.write(`Key`,H(t),q(`state.Key`,{owner:n,owner_id:r,duties:i,descends_from:a}))}function pl(e,t){K(e.admin(e.header.signer_public_key),`not-admin`,`key ${e.header.signer_public_key} is not in wayseal.admin_keys`);let n=e.store.read(`Party`,V(t.party_id));for(let n of t.public_keys)ul(e,n,sl,t.party_id);for(let r of n?.public_keys??[])t.public_keys.includes(r)||dl(e,r);for(let n of t.public_keys)fl(e,n,sl,t.party_id,ll(t.key_duties,n),``);e.store.write(`Party`,V(t.party_id),q(`state.Party`,{party_id:t.party_id,name:t.name,public_keys:t.public_keys,roles:t.roles,key_duties:t.key_duties}))}function ml(e,t){let n=vo(e,t.party_id),r=e.store.read(`Party`,V(t.party_id));for(let e of t.revoked)K(r.public_keys.includes(e),`unknown-key`,`key ${e} is not a current key of ${t.party_id}`);let i=r.public_keys.filter(e=>!t.revoked.includes(e)),a=t.added.filter(e=>!r.public_keys.includes(e)),o=[...i,...a];K(o.length,`last-key`,`party ${t.party_id} would keep no key`),K(o.length<=16,`form`,`${o.length} keys, at most 16 are allowed`);let s=[...r.key_duties.filter(e=>i.includes(e.public_key)),...t.key_duties],c=n.descends_from||e.header.signer_public_key;if(e.version){for(let e of t.key_duties)K(!r.public_keys.includes(e.public_key),`form`,`key ${e.public_key} is current`);let n=r.public_keys.filter(t=>(e.store.read(`Key`,H(t))?.descends_from||t)!==c);K(!n.length||n.some(e=>!t.revoked.includes(e)),`others-revoked`,`one key would revoke all others`),K(oc(o,s),`last-key`,`no key of party ${t.party_id} could rotate keys`)}for(let n of t.added)ul(e,n,sl,t.party_id);for(let n of t.revoked)dl(e,n);for(let n of a)fl(e,n,sl,t.party_id,ll(t.key_duties,n),e.version?c:``);e.store.write(`Party`,V(t.party_id),{...r,public_keys:o,key_duties:s})}function hl(e,t){vo(e,t.party_id);let n=e.store.read(`Site`,ra(t.site_id));K(!n?.site||n.site.party_id===t.party_id,`not-the-party`,`site ${t.site_id} belongs to another party`),e.store.write(`Site`,ra(t.site_id),q(`state.Site`,{site:t}))}function gl(e,t){vo(e,t.party_id);let n=e.store.read(`Device`,ia(t.device_id));K(!n||n.party_id===t.party_id,`device-taken`,`device ${t.device_id} belongs to another party`);for(let n of t.public_keys)ul(e,n,cl,t.device_id);for(let r of n?.public_keys??[])t.public_keys.includes(r)||dl(e,r);for(let n of t.public_keys)fl(e,n,cl,t.device_id,[],``);e.store.write(`Device`,ia(t.device_id),q(`state.Device`,{device_id:t.device_id,party_id:t.party_id,calibrated_until_ms:t.calibrated_until_ms,public_keys:t.public_keys}))}function _l(e,t){vo(e,t.party_id),bo(e,t.party_id,N.Role.AUTHORITY),K(e.store.read(`Party`,V(t.holder_id)),`unknown-party`,`party ${t.holder_id} is not registered`);let n=ca(t.holder_id,t.kind),r=e.store.read(`Certificates`,n)?.by_authority??[],i=r.filter(e=>e.party_id!==t.party_id);K(!t.revoked||i.length<r.length,`certificate-unknown`,`${t.party_id} gave ${t.holder_id} no certificate ${t.kind}`),K(i.length<16,`form`,`over 16 authorities certify the same`);let a=[...i,t];e.store.write(`Certificates`,n,q(`state.Certificates`,{holder_id:t.holder_id,kind:t.kind,by_authority:a}))}const vl=/^b7a4b705[0-9a-f]{62}$/,yl={register_party:e=>({inputs:[xa],outputs:[V(e.party_id),Qi]}),rotate_keys:(e,t)=>({inputs:[t],outputs:[V(e.party_id),Qi]}),register_site:(e,t)=>({inputs:[t,V(e.party_id)],outputs:[ra(e.site_id)]}),register_device:(e,t)=>({inputs:[t,V(e.party_id)],outputs:[ia(e.device_id),Qi]}),certify_party:(e,t)=>({inputs:[t,V(e.party_id),V(e.holder_id)],outputs:[ca(e.holder_id,e.kind)]}),open_delivery:(e,t,n,r)=>{let i=[t,...[e.seller_id,e.carrier_id,e.buyer_id].map(V)];return r&&(i.push(...e.other_carrier_ids.map(V)),e.authority_id&&i.push(V(e.authority_id)),i.push(Yi,...e.lots.map(e=>aa(e.gtin,e.lot)),...e.units.map(la)),i.push(...e.required_certificates.map(e=>ca(e.holder_id,e.kind)))),{inputs:i,outputs:[U(e.delivery_id)]}},accept_delivery:(e,t)=>({inputs:[t],outputs:[U(e.delivery_id)]}),dispute_delivery:(e,t)=>({inputs:[t],outputs:[U(e.delivery_id)]}),close_delivery:(e,t)=>({inputs:[t],outputs:[U(e.delivery_id)]}),cancel_delivery:(e,t)=>({inputs:[t],outputs:[U(e.delivery_id)]}),announce_settlement:(e,t)=>({inputs:[t,V(e.authority_id),Yi],outputs:[U(e.delivery_id)]}),settle_delivery:(e,t)=>({inputs:[t,V(e.authority_id),Yi],outputs:[U(e.delivery_id)]}),start_trip:(e,t,n,r)=>({inputs:[t,ia(e.device_id),...[e.origin_site_id,...e.via_site_ids,e.destination_site_id].map(ra),...r?[Yi]:[]],outputs:[W(e.trip_id),...e.delivery_ids.map(U),...r?[sa(n)]:[]]}),record_reading:(e,t,n,r)=>bl(e,t,r),record_run:(e,t,n,r)=>bl(e,t,r),seal_trip:(e,t,n,r)=>({inputs:r?[t,ia(e.device_id),Yi]:[t],outputs:r?[W(e.trip_id),sa(n)]:[W(e.trip_id)],deliveries:r>0}),record_video:(e,t)=>({inputs:[t],outputs:[W(e.trip_id)]}),hand_over:(e,t)=>({inputs:[t,ra(e.site_id)],outputs:[W(e.trip_id),U(e.delivery_id)]}),close_trip:(e,t)=>({inputs:[t,V(e.party_id)],outputs:[W(e.trip_id)]}),place_hold:(e,t)=>({inputs:[t,V(e.party_id)],outputs:[W(e.trip_id)]}),release_hold:(e,t)=>({inputs:[t,V(e.party_id)],outputs:[W(e.trip_id)]}),transform_lots:(e,t)=>({inputs:[t,V(e.party_id),ra(e.site_id)],outputs:[oa(e.transformation_id),...[...e.inputs,...e.outputs].map(e=>aa(e.gtin,e.lot))]}),set_lot_status:(e,t)=>({inputs:[t,V(e.party_id)],outputs:[aa(e.gtin,e.lot)]}),commit_accesses:(e,t,n)=>({inputs:[t,ra(e.site_id),Yi],outputs:[da(e.site_id,e.record_sha256,n),ua(e.site_id,e.record_sha256,n,e.sequence)]}),pack_unit:(e,t)=>({inputs:[t,V(e.party_id),ra(e.site_id)],outputs:[$i]})};function bl(e,t,n){return{inputs:[t,ia(e.device_id),...n?[Yi]:[]],outputs:[W(e.trip_id)],deliveries:!0}}function xl(e,t,n,r){let i=n.signer_public_key;K(n.batcher_public_key===i,`form`,`signed by ${i}, made for a batch by ${n.batcher_public_key}`);let a=yl[e](t,H(i),i,r),o=a.deliveries?n.outputs.slice(a.outputs.length):[],s=[...a.outputs,...o];return K(o.length<=32&&new Set(o).size===o.length&&o.every(e=>vl.test(e)),`form`,`the outputs declare something other than up to 32 different deliveries`),K(Sl(n.outputs,s),`form`,`the outputs of ${e} are other than it needs`),K(Sl(n.inputs,[...a.inputs,...s]),`form`,`the inputs of ${e} are other than it needs`),new Set(o)}function Sl(e,t){return e.length===t.length&&e.every((e,n)=>e===t[n])}const Cl={1:`temperature_mcel`,2:`humidity_mpct`,3:`pressure_pa`};function wl(e,t,n){for(let r of Tl(e.trip))El(e,t,n,r)}function Tl(e){let t=e.deliveries.flatMap((e,t)=>e.limits.map(n=>({place:t,delivery:e.delivery_id,limit:n})));return t.map((e,n)=>({...e,index:n,total:t.length}))}function El(e,t,n,r){let{chain:i}=e,a=kc(t,r.limit.quantity),o=i.excursions.find(e=>e.delivery_id===r.delivery&&e.quantity===r.limit.quantity);if(o&&(o.lasted_ms=Mr(o.lasted_ms+n)),a===void 0)return;let s=r.limit.maximum!==void 0&&a>r.limit.maximum,c=r.limit.minimum!==void 0&&a<r.limit.minimum;if(!s&&!c){o&&Nl(e,o,r);return}let l=o??Dl(e,a,r);l.until_ms=e.clock.utc_ms,l.until_sequence=e.sequence,Ol(a,r.limit)>Ol(l.extreme,r.limit)&&(l.extreme=a);let u=BigInt(r.limit.tolerated_s)*1000n;!l.breached&&(u===0n||l.lasted_ms>u)&&kl(e,l,t.position,r)}function Dl(e,t,n){let r=q(`state.Excursion`,{delivery_id:n.delivery,quantity:n.limit.quantity,since_ms:e.clock.utc_ms,since_sequence:e.sequence,extreme:t});return e.chain.excursions.push(r),r}function Ol(e,t){return Math.max(t.maximum===void 0?0:e-t.maximum,t.minimum===void 0?0:t.minimum-e)}function kl(e,t,n,r){let{c:i,chain:a}=e;t.breached=!0,a.breaches.length||(a.breaches=Array.from({length:r.total},()=>0));let o=(a.breaches[r.index]??0)+1;a.breaches[r.index]=o;let s=Al(r.total);o<=s?i.store.write(`Breach`,jl(e,t),q(`state.Breach`,{...Ml(e,t,r.limit),position:n})):o===s+1&&e.notes.add(`breaches-many`,`${s} breaches of ${r.delivery}'s ${Cl[t.quantity]} are told; from here on they are counted only`,{sequence:e.sequence}),cc(e,r.place,e=>{e.breaches+=1})}const Al=e=>Math.floor(256/e),jl=(e,t)=>ha(e.trip.start.trip_id,e.chain.device_id,t.delivery_id,t.quantity,t.since_sequence);function Ml(e,t,n){return{trip_id:e.trip.start.trip_id,device_id:e.chain.device_id,delivery_id:t.delivery_id,limit:n,since_ms:t.since_ms,since_sequence:t.since_sequence,until_ms:t.until_ms,until_sequence:t.until_sequence,extreme:t.extreme}}function Nl(e,t,n){if(e.chain.excursions=e.chain.excursions.filter(e=>e!==t),!t.breached||(e.chain.breaches[n.index]??0)>Al(n.total))return;let r=e.c.store.read(`Breach`,jl(e,t));r&&e.c.store.write(`Breach`,jl(e,t),{...r,...Ml(e,t,n.limit),ended:!0})}function Pl(e){let t=Tl(e.trip);for(let n of[...e.chain.excursions]){let r=t.find(e=>e.delivery===n.delivery_id&&e.limit.quantity===n.quantity);r&&Nl(e,n,r)}}function Fl(e,t){let{c:n,chain:r,sequence:i}=e,a=e.trip.start.trip_id,o=r.device_id;r.telling+=1n;for(let e of t.remarks)r.remarks+=1n,n.remark({trip_id:a,device_id:o,sequence:i,clock:t.clock,remark:e,film:t.film});for(let e of t.filmed){let t=va(a,o,j(e.sha256));n.store.read(`Filmed`,t)||(r.filmed+=1,n.store.write(`Filmed`,t,q(`state.Filmed`,{device_id:o,recording:e,sequence:i})))}}function Il(e,t){let{c:n,chain:r,notes:i}=e;if(!r.filmed)return;let a=t.recordings.filter(e=>n.store.read(`Filmed`,va(t.trip_id,t.device_id,j(e.sha256)))?.recording?.size===e.size).length;a<r.filmed&&i.add(`recording-left-out`,`readings named ${r.filmed} recordings as whole, the seal has ${a} of them`)}const Ll=60000n;function Rl(e,t){let n=q(`payload.RunReading`,t);Bl(e,t.trip_id,t.device_id,t.sequence,t.previous_sha256,[n])}function zl(e,t){Bl(e,t.trip_id,t.device_id,t.first_sequence,t.previous_sha256,t.readings)}function Bl(e,t,n,r,i,a){let o=xo(e),s=So(e,t),c={...Ec(e,s,n)};c.silences=c.silences.map(e=>({...e}));let l=c.silences.length;c.excursions=c.excursions.map(e=>({...e})),c.breaches=[...c.breaches];let u=new To({trip_id:t,device_id:n,transaction_id:e.id}),d=i,f=!1;a.forEach((i,a)=>{let l=r+BigInt(a),p={c:e,trip:s,chain:c,notes:u,sequence:l,clock:i.clock,revoked:o.revoked};o.revoked&&u.add(`key-revoked`,`key ${e.header.signer_public_key} was revoked`,{sequence:l});let m=B.encode(`payload.RecordReading`,q(`payload.RecordReading`,{trip_id:t,device_id:n,sequence:l,previous_sha256:d})),h=B.encode(`payload.RunReading`,i);Vl(p,o,d)?d=Fn(M(m,h)):(f=!0,d=Fn(M(m,h)),Hl(p,i,d))}),Ic(s,c,l),f&&e.store.write(`Chain`,pa(t,n),c),u.keep(e,t)}function Vl(e,t,n){let{chain:r,notes:i,sequence:a}=e,o=e.trip.start,s=(e,t)=>(i.add(e,t,{sequence:a}),!0);return t.owner_id===r.device_id?[o.device_id,...o.other_device_ids].includes(r.device_id)?r.seal?s(`after-seal`,`not in the chain, which is sealed`):a<r.next_sequence?s(`sequence-repeated`,`not in the chain, which expects ${r.next_sequence}`):(a>r.next_sequence?i.add(`sequence-gap`,`${r.next_sequence} was expected next`,{sequence:a}):F(n,r.head_sha256)||i.add(`chain-broken`,`names ${j(n).slice(0,16)} before it, the chain ends in ${j(r.head_sha256).slice(0,16)}`,{sequence:a}),!1):s(`device-not-on-trip`,`the trip does not name this device; in no chain`):s(`signer-mismatch`,`signed by ${t.owner_id}; not in the chain`)}function Hl(e,t,n){let{c:r,trip:i,chain:a,sequence:o}=e,s=t.clock,c=Mc(i,a),l=c?Ar(c,s,r.version):0n;c&&(a.count||r.version)&&Wl(e,c,s),Kl(e,s),r.version&&Gl(e,c,s),r.version&&ql(e,t.clock.utc_ms,t.derived),r.version&&Nc(e,t,l),wl(e,t,a.count?l:0n),Ul(e,t),r.version>=2&&Fl(e,t),r.joined({trip:i.start.trip_id,device:a.device_id,sequence:o,reading:t}),a.count+=1n,a.head_sha256=n,a.last_utc_ms=s.utc_ms,a.last_boot_id=s.boot_id,a.last_monotonic_ms=s.monotonic_ms,a.tamper_flags=t.tamper_flags,a.next_sequence=o+1n,r.version&&(a.live||=!t.derived,t.position&&t.position.accuracy_cm<=1e5&&(a.last_position=t.position),r.block_s&&(a.timed+=1n))}function Ul(e,t){let{c:n,trip:r,chain:i,sequence:a}=e,o=t.tamper_flags&~i.tamper_flags,s=n.version>=2?i.tamper_flags&~t.tamper_flags:0;(o||s)&&(n.tamper({trip:r.start.trip_id,device:i.device_id,sequence:a,utc_ms:t.clock.utc_ms,flags:o,ended:s,film:n.version>=2?t.film:[]}),o&&r.deliveries.forEach((t,n)=>cc(e,n,e=>{e.tampers+=1})))}function Wl(e,t,n){let{c:r,chain:i,notes:a,sequence:o}=e,s=(e,t)=>a.add(e,t,{sequence:o}),[c,l]=[n.utc_ms-t.utc_ms,n.monotonic_ms-t.monotonic_ms],u=F(t.boot_id,n.boot_id),d=u&&c>=0n&&l>=0n;if(c<0n&&s(`clock-back`,`UTC went back by ${-c} ms`),u&&l<0n?s(`clock-back`,`the counter went back by ${-l} ms`):d&&Pr(c-l)>Ll&&(s(`clock-jump`,`UTC moved by ${c} ms while ${l} ms passed`),d=!1),!r.version)return;let f=n.utc_ms-n.monotonic_ms;if(d){if(i.apart_ms??=t.utc_ms-t.monotonic_ms,Pr(f-i.apart_ms)<=Ll)return;s(`clock-jump`,`UTC moved ${f-i.apart_ms} ms further than the counter, step by step`)}i.apart_ms=f}function Gl(e,t,n){let{chain:r,notes:i,sequence:a}=e;t?.boot_id.length&&!F(t.boot_id,n.boot_id)&&(r.reboots+=1,r.reboots<=64&&i.add(`rebooted`,`the device was started ${n.monotonic_ms} ms before`,{sequence:a}))}function Kl(e,t){let{c:n,chain:r,notes:i,sequence:a}=e;r.count||(r.calibrated_until_ms=n.store.read(`Device`,ia(r.device_id))?.calibrated_until_ms??0n),r.calibrated_until_ms&&t.utc_ms>r.calibrated_until_ms&&!r.calibration_expired&&(r.calibration_expired=!0,i.add(`out-of-calibration`,`calibrated until ${r.calibrated_until_ms} ms UTC`,{sequence:a}))}function ql(e,t,n){let{c:r,chain:i,notes:a,sequence:o,trip:s}=e,c=n?``:Fr(t,r.block_s,s);c&&!i.implausible&&(i.implausible_times+=1,i.implausible_times<=64&&a.add(`time-implausible`,c,{sequence:o})),i.implausible=c!==``}const Jl=111195n,Yl=10n**7n;function Xl(e){let{trip:t,chain:n,notes:r}=e,i=t.destination;if(!i?.position)return;let a=n.last_position;if(!a){t.start?.device_id===n.device_id&&r.add(`position-missing`,`no position; ${i.site_id} has a known place`);return}let o=Zl(a,i.position);o*100n>BigInt(i.radius_m)*100n+BigInt(a.accuracy_cm)&&r.add(`arrived-elsewhere`,`${o} m from ${i.site_id}, which reaches ${i.radius_m} m`)}function Zl(e,t){let[n,r]=[BigInt(e.latitude_e7),BigInt(t.latitude_e7)],i=Ql(BigInt(e.longitude_e7)-BigInt(t.longitude_e7));i>180n*Yl&&(i=360n*Yl-i);let a=Ql(n-r)*Jl/Yl,o=$l(n+r,2n),s=32400n*10n**14n,c=i*Jl*(s-4n*o*o)/(Yl*(s+o*o));return eu(a*a+c*c)}const Ql=e=>e<0n?-e:e,$l=(e,t)=>e>=0n?e/t:-((-e+t-1n)/t);function eu(e){if(e<2n)return e;let t=BigInt(Math.floor(Math.sqrt(Number(e))));for(;t*t>e;)t-=1n;for(;(t+1n)*(t+1n)<=e;)t+=1n;return t}function tu(e,t){let n=xo(e),r=So(e,t.trip_id),i=new To({trip_id:t.trip_id,device_id:t.device_id,transaction_id:e.id}),a=r.start,o=()=>i.keep(e,t.trip_id);if(n.revoked&&i.add(`key-revoked`,`key ${e.header.signer_public_key} was revoked`),r.close&&i.add(`after-close`,`${r.close.party_id} had closed the trip`),n.owner_id!==t.device_id)return i.add(`signer-mismatch`,`signed by ${n.owner_id}; seals nothing`),o();if(![a.device_id,...a.other_device_ids].includes(t.device_id))return i.add(`device-not-on-trip`,`the trip does not name this device; seals nothing`),o();let s=Ec(e,r,t.device_id);if(s.seal)return i.add(`seal-repeated`,`the first seal stands`),o();let c={...s,silences:s.silences.map(e=>({...e}))};t.reading_count===c.count&&F(t.head_sha256,c.head_sha256)||i.add(`seal-mismatch`,`seals ${t.reading_count} readings up to ${j(t.head_sha256).slice(0,16)}, committed are ${c.count} up to ${j(c.head_sha256).slice(0,16)}`);let l={c:e,trip:r,chain:c,notes:i,sequence:c.next_sequence,clock:t.clock,revoked:n.revoked};Pl(l),c.seal=t,c.seal_transaction_id=e.id,e.version&&nu(l,t),e.version>=2&&Il(l,t),e.store.write(`Chain`,pa(t.trip_id,t.device_id),c),e.version&&Uc(l),o()}function nu(e,t){let{c:n,trip:r,chain:i}=e,a=t.clock,o=Mc(r,i),s=o?Ar(o,a,n.version):0n;Xl(e),o&&Wl(e,o,a),Gl(e,o,a);let c=i.live||!(i.count||r.start?.derived_from.length);ql(e,a.utc_ms,!c),Fc(e,s),n.block_s&&(i.timed+=1n)}const ru=65536,{KEYS:iu,REGISTRY:au,TRADE:ou,CUSTODY:su,GOODS:cu,EVIDENCE:lu}=N.KeyDuties_Duty,uu={rotate_keys:iu,register_site:au,register_device:au,certify_party:lu,open_delivery:ou,accept_delivery:ou,dispute_delivery:ou,close_delivery:ou,cancel_delivery:ou,announce_settlement:lu,settle_delivery:lu,hand_over:su,close_trip:su,place_hold:lu,release_hold:lu,transform_lots:cu,set_lot_status:cu},du={register_party:pl,rotate_keys:ml,register_site:hl,register_device:gl,certify_party:_l,open_delivery:Ms,accept_delivery:Fs,dispute_delivery:Is,close_delivery:Ls,cancel_delivery:Rs,announce_settlement:Bs,settle_delivery:Vs,start_trip:hc,record_reading:Rl,record_run:zl,seal_trip:tu,record_video:Tc,hand_over:$c,close_trip:bc,place_hold:Cc,release_hold:wc,transform_lots:Ao,set_lot_status:Po,pack_unit:(e,t)=>void e.store.packed.add(t.sscc),commit_accesses:()=>void 0};function fu(e){K(e.length<=ru,`form`,`the payload has ${e.length} bytes, at most ${ru} are allowed`);let t;try{t=B.decodeCanonical(`payload.Payload`,e)}catch(e){throw e instanceof P?new ho(`form`,e.message):e}let n=Object.entries(t).filter(([,e])=>e!==void 0);K(n.length===1,`form`,`the payload has ${n.length} actions`);let[r,i]=n[0];return{name:r,value:i}}function pu(e){let{action:t}=e;e.version<3&&K(!mu(`payload.Payload`,{[t.name]:t.value},100*(e.version+1)),`form`,`a field is not of version 1.${e.version}`);let n=xl(t.name,t.value,e.header,e.version);sc(t.name,t.value,e.version),e.store.version=e.version;let r={...e,declared:n},i=uu[t.name];i&&go(r,i),du[t.name](r,t.value)}function mu(e,t,n){return(Vi.messages.get(e)??[]).some(e=>{let r=t[e.name];if(r===void 0||Array.isArray(r)&&!r.length)return!1;if(e.kind!==`message`){let t=!e.optional&&(r instanceof Uint8Array?!r.length:!Array.isArray(r)&&!r);return e.number>=n&&!t}return e.number>=n||(Array.isArray(r)?r:[r]).some(t=>mu(e.of,t,n))})}var hu=class{entries=/* @__PURE__ */ new Map;met=/* @__PURE__ */ new Set;version=1;packed=/* @__PURE__ */ new Set;#e=/* @__PURE__ */ new Set;changedDeliveries(){return this.#e}forgetChanges(){this.#e.clear()}read(e,t){this.met.add(t);let n=this.entries.get(t);if(!n)return;let r=n.value;if((r.rules??0)>this.version)throw new ho(`rules-behind`,`a later version of the rules wrote ${e} ${t}`);if(n.kind!==e)throw Error(`${t} is ${n.kind}, not ${e}`);return r}has(e){return this.met.add(e),this.entries.has(e)}write(e,t,n){this.met.add(t),e===`Delivery`&&this.#e.add(n.terms.delivery_id),`rules`in n&&(n.rules=Math.min(this.version,1)),this.entries.set(t,{kind:e,value:n})}encoded(e){let t=this.entries.get(e);return t&&B.encode(`state.${t.kind}`,t.value)}};const gu=[`1.0`,`1.1`,`1.2`,`1.3`];function _u(e){try{return B.decode(`block_info.BlockInfoTxn`,e)}catch(t){throw t instanceof P?new L(0,`${e.length} bytes are not a valid BlockInfoTxn message: ${t.message}`):t}}var vu=class{store=new hu;adminKeys=/* @__PURE__ */ new Set;#e;#t;recordings=/* @__PURE__ */ new Map;movers=/* @__PURE__ */ new Map;tripIds=/* @__PURE__ */ new Set;deviceKeys=/* @__PURE__ */ new Map;tampers=[];remarks=[];times=/* @__PURE__ */ new Map;transformations=[];lots=/* @__PURE__ */ new Set;startedRevoked=/* @__PURE__ */ new Set;derived=/* @__PURE__ */ new Map;spans=/* @__PURE__ */ new Map;lastSignedAtMs=0n;#n=/* @__PURE__ */ new Map;storyBlocks=/* @__PURE__ */ new Set;constructor(e,t){this.#t=e,this.#e=t}blocksWithTime(){return[...this.storyBlocks].filter(e=>this.#n.has(e)).length}take(e,t){let{header:n}=e;if(n.family_name===`block_info`&&n.family_version===`1.0`)return e.first?this.#i(e):void 0;if(n.family_name!==`wayseal`)return;let r=gu.indexOf(n.family_version),i=e.transaction.header_signature;if(r<0)throw new L(5,`transaction ${R(i)} is of version ${R(n.family_version)}; this verifier knows the rules of ${gu.join(`, `)}`,{about:i});this.storyBlocks.add(e.block);try{let n=fu(e.transaction.payload);this.#o(e,n,t),this.#r(e,n,r)}catch(e){throw e instanceof ho?new L(6,e.message,{rule:e.rule,about:i}):e}}#r(e,t,n){let{header:r}=e;pu({store:this.store,header:r,id:e.transaction.header_signature,action:t,version:n,block_s:this.#n.get(e.block)??0n,admin:e=>this.#a(e),tamper:e=>this.tampers.push(e),remark:e=>this.remarks.push(e),joined:e=>this.#u(e)}),this.#s(t,r.signer_public_key)}forgetStrangers(){for(let e of this.adminKeys)this.#e?.has(e)||this.adminKeys.delete(e)}#i(e){let t=_u(e.transaction.payload);t.block&&this.#n.set(e.block,t.block.timestamp)}#a(e){return this.adminKeys.add(e),!this.#e||this.#e.has(e)}#o(e,t,n){let r=t.value.trip_id;if(r===void 0||!this.#t.has(r))return;let i=e.header.dependencies.find(e=>!n(e));if(i===void 0)return;let a=this.store.entries.get(H(e.header.signer_public_key))?.value,o=t.name===`start_trip`?t.value:this.store.entries.get(G(r))?.value?.start;if(a&&a.owner!==1&&o&&![o.device_id,...o.other_device_ids].includes(a.owner_id))return;let s=e.transaction.header_signature;throw new L(5,`transaction ${R(s)} depends on ${R(i)}, which is missing`,{about:s})}#s(e,t){let n=e.value;for(let e of[n.at_ms,n.started_at_ms,n.clock?.utc_ms])this.#l(e);if(e.name===`transform_lots`&&this.transformations.push(e.value.transformation_id),n.trip_id!==void 0){this.tripIds.add(n.trip_id);for(let e of this.store.changedDeliveries()){let t=this.movers.get(e)??/* @__PURE__ */ new Set;this.movers.set(e,t.add(n.trip_id))}n.device_id&&this.#c(n.trip_id,n.device_id,t)}if(e.name===`record_run`)for(let t of e.value.readings)this.#l(t.clock?.utc_ms);e.name===`start_trip`&&(this.store.entries.get(H(t))?.value).revoked&&this.startedRevoked.add(n.trip_id),e.name===`record_video`&&this.#t.has(n.trip_id)&&this.#d(e.value),this.store.forgetChanges()}#c(e,t,n){let r=this.store.entries.get(G(e))?.value?.start,i=this.store.entries.get(H(n))?.value?.owner_id;if(!r||i!==t||![r.device_id,...r.other_device_ids].includes(t))return;let a=this.deviceKeys.get(e)??/* @__PURE__ */ new Set;this.deviceKeys.set(e,a.add(n))}#l(e){e&&e>this.lastSignedAtMs&&(this.lastSignedAtMs=e)}#u({trip:e,device:t,sequence:n,reading:r}){let i=r.clock.utc_ms,a=this.spans.get(e)??[i,i];if(this.spans.set(e,[i<a[0]?i:a[0],i>a[1]?i:a[1]]),!this.#t.has(e))return;r.derived&&this.derived.set(e,(this.derived.get(e)??0)+1);let o=this.times.get(e)??new Lr;this.times.set(e,o),o.take(t,n,r)}#d(e){let t=j(e.sha256),n={trip:e.trip_id,device:e.device_id,size:e.size,root:j(e.tree_root),derived:e.derived,started_at_ms:e.started_at_ms},r=this.recordings.get(t)?.[0];if(r&&(r.size!==n.size||r.root!==n.root))throw new L(8,`recording ${R(t)}: ${r.device} and ${n.device} signed different sizes or trees`,{about:t});this.recordings.set(t,[...this.recordings.get(t)??[],n])}};function yu(e,t,n,r){let i=[],a=(e,t)=>void i.push({check:17,about:e,text:t});for(let t of e.trips??[])r.trip_ids.includes(t)||a(t,`the file is not about trip ${t}`);let o=r.trip_ids.flatMap(e=>bu(e,t));for(let t of e.deliveries??[])o.some(e=>e.terms?.delivery_id===t)||a(t,`the file is not about delivery ${t}`);let s=o.filter(e=>e.signed_by.length===2).flatMap(e=>e.terms?.lots??[]);for(let t of e.lots??[])s.some(e=>`${e.gtin}:${e.lot}`===t)||a(t,`the file is not about lot ${t}`);let c=n.blocks-1;return e.atLeastBlock!==void 0&&!(c>=e.atLeastBlock)&&a(String(c),`the file ends with block ${c}, you asked for block ${e.atLeastBlock}`),i}function bu(e,t){let n=t.store.entries.get(G(e))?.value;if(!n)return[];let r=n.start,i=t.startedRevoked.has(e),a=t.store.entries.get(ia(r.device_id))?.value?.party_id??``;return r.delivery_ids.flatMap(e=>{let n=t.store.entries.get(U(e))?.value;return n?.terms&&!i&&wo(n.terms).includes(a)?[n]:[]})}const xu={0:`none`,1:`due`,2:`released`,3:`withheld`},Su={1:[`CEL`,1e3],2:[`P1`,1e3],3:[`A97`,100]},Cu=[[1,`enclosure-open`],[2,`door-open`],[4,`motion`],[8,`shock`],[16,`light`],[32,`camera-blocked`],[64,`sensor-unplugged`],[128,`clock-set-back`],[256,`rebooted`]],wu=e=>Cu.filter(([t])=>e&t).map(([,e])=>e),Tu=e=>e?I(e):null;function Eu(e){let{ledger:t,replay:n,header:r}=e,i=new Map(r.trip_ids.map(e=>[G(e),e])),a=[...n.store.entries.keys()].flatMap(e=>i.get(e)??[]);return{keys:{genesis_block_id:t.genesis,block_signers:t.signers,network:Du(e.sealed),admin_keys:[...n.adminKeys].sort()},ledger:{blocks:t.blocks,last_block_id:t.lastId,blocks_of_the_story:n.storyBlocks.size,blocks_with_time:n.blocksWithTime(),last_block_at:ku(e),last_signed_at:Tu(n.lastSignedAtMs),goes_on_from:e.before??[],by_network:t.byNetwork,sealed:Ou(e.sealed)},trips:a.flatMap(t=>Mu(t,e)),without_lots:r.without_lots,recordings:[...n.recordings].map(([t,n])=>Iu(t,n[0],e))}}function Du(e){return e?{chain_id:e.chain_id,validators:Object.fromEntries([...e.began_with].sort(([e],[t])=>e<t?-1:1))}:null}function Ou(e){if(!e)return null;let{height:t,ms:n,by:r,power:i,power_of_all:a}=e;return{height:Number(t),at:I(n),by:r,power:i,power_of_all:a}}function ku({tree:e}){let t=Au(`BlockInfoConfig`,Xi,e),n=t&&Au(`BlockInfo`,Zi(t.latest_block),e);return n&&n.timestamp*1000n<=253402300799999n?I(n.timestamp*1000n):null}function Au(e,t,n){let r=n?.find(t);if(r&&`value`in r)try{return B.decode(`block_info.${e}`,r.value)}catch(e){if(e instanceof P)return;throw e}}function ju(e,t){return e.replay.store.entries.get(t)?.value}function Mu(e,t){let n=ju(t,G(e));if(!n)return[];let r=n.start,i=[r.device_id,...r.other_device_ids],a=i.flatMap(n=>ju(t,pa(e,n))??[]),o=t.replay.spans.get(e),s=t.replay.times.get(e),c=[...t.replay.deviceKeys.get(e)??[]].sort(),l=s?.span();return[{trip_id:e,device_id:r.device_id,other_device_ids:r.other_device_ids,device_keys:c,revoked_device_keys:c.filter(e=>ju(t,H(e))?.revoked),origin_site_id:r.origin_site_id,via_site_ids:r.via_site_ids,destination_site_id:r.destination_site_id,delivery_ids:r.delivery_ids,readings:a.reduce((e,t)=>e+Number(t.count),0),readings_derived:t.replay.derived.get(e)??0,first_reading_at:o?I(o[0]):null,last_reading_at:o?I(o[1]):null,first_reading_corrected_at:l?I(l[0]):null,last_reading_corrected_at:l?I(l[1]):null,breaches:Pu(e,t),tampers:t.replay.tampers.filter(t=>t.trip===e).map(e=>({device_id:e.device,sequence:Number(e.sequence),time:I(e.utc_ms),corrected_time:Ur(s?.ofReading(e.device,e.sequence)),signs:wu(e.flags),ended:wu(e.ended),film:Gr(e.film)})),remarks:t.replay.remarks.filter(t=>t.trip_id===e).map(e=>Kr(e,s)),telling:i.map(n=>qr(ju(t,pa(e,n))??q(`state.Chain`,{device_id:n}))),corrections:(s?.corrections??[]).map(Jr),findings:[...Vu(e,t.replay),...t.places.get(e)??[]].map(e=>({rule:e.rule,detail:e.detail,device_id:e.device_id,sequence:Number(e.sequence)})),left_out_findings:Object.fromEntries(t.leftOut.get(e)??[]),deliveries:r.delivery_ids.flatMap(e=>Fu(e,t)),closed_by:n.close?.party_id??null,holds:Nu(t,`${W(e)}05`).map(e=>({hold_id:e.placed?.hold_id??``,party_id:e.placed?.party_id??``,reason:e.placed?.reason??``,released_at:e.released?I(e.released.at_ms):null}))}]}function Nu(e,t){return[...e.replay.store.entries].filter(([e])=>e.startsWith(t)).map(([,e])=>e.value)}function Pu(e,t){let n=t.replay.times.get(e);return Nu(t,`${W(e)}03`).map(e=>{let[t,r]=Su[e.limit?.quantity??0]??[``,1];return{delivery_id:e.delivery_id,device_id:e.device_id,quantity:Sc[e.limit?.quantity??0]??``,unit:t,extreme:e.extreme/r,since:I(e.since_ms),until:I(e.until_ms),since_corrected:Ur(n?.ofReading(e.device_id,e.since_sequence)),until_corrected:Ur(n?.ofReading(e.device_id,e.until_sequence)),first_sequence:Number(e.since_sequence),last_sequence:Number(e.until_sequence),ended:e.ended}})}function Fu(e,t){let n=ju(t,U(e));return n?[{delivery_id:e,status:Yo(n),payment:xu[n.payment]??``,custodian_id:n.custodian_id||null,breaches:n.breaches,tampers:n.tampers,silences:n.silences,also_on_trip_ids:[...t.replay.movers.get(e)??[]].filter(e=>!t.header.trip_ids.includes(e)&&ju(t,G(e))).sort()}]:[]}function Iu(e,t,n){let r=n.videos?.checked(e);return{sha256:e,trip_id:t.trip,size:Number(t.size),derived:t.derived,blobs:po(t.size),leaf_hashes_checked:r?.leaves??!1,blobs_checked:r?.blobs??0,files:r?.files??[]}}const Lu=[`chain-broken`,`sequence-gap`,`seal-mismatch`,`recording-not-sealed`,`recording-left-out`,`delivery-unknown`];async function Ru(e){try{return await new zu(e,await qi.open(e.file)).verdict()}catch(e){let t={check:0,text:e instanceof Error?e.message:String(e)};if(e instanceof ei)return{verdict:`no-evidence`,exit:2,problems:[t]};if(e instanceof $r)return{verdict:`not-checked`,exit:2,problems:[t]};throw e}}var zu=class{#e;#t;#n;#r=[];#i;#a;#o;#s;#c;#l;#u=/* @__PURE__ */ new Map;#d=/* @__PURE__ */ new Map;#f;constructor(e,t){this.#e=e,this.#t=t,this.#c=new Wa(e.pool);let n=(e.trust?.predecessors??[]).map(e=>e.block_num);this.#n=new so(e.pool,new Set(n))}async verdict(){try{await this.#h(),await this.#e.pool.settle(),this.#T(),this.#s.checkWhole(),await this.#S(),this.#x(),this.#D(),this.#n.byNetwork&&(this.#l=this.#c.of(this.#n.lastId)),this.#r.push(...yu(this.#e,this.#a,this.#n,this.#i))}catch(e){this.#r.push(...await this.#p(e))}return this.#r.push(...this.#C()),this.#m()}async#p(e){try{await this.#e.pool.settle()}catch(e){if(e instanceof L)return this.#a?.forgetStrangers(),[e.problem];throw e}if(e instanceof L)return[e.problem];throw e}#m(){let{trust:e}=this.#e,t=this.#t.format,n=this.#i&&this.#a?Eu({header:this.#i,replay:this.#a,ledger:this.#n,tree:this.#o,videos:this.#s,leftOut:this.#u,places:this.#d,format:t,before:this.#E(),sealed:this.#l}):{},r={problems:this.#r,format:t,...n};return this.#r.length?{verdict:`does-not-hold`,exit:1,...r}:e?t===1&&!this.#e.acceptFormat1?{verdict:`format-1`,exit:1,...r}:{verdict:`holds`,exit:0,...r}:{verdict:`unanchored`,exit:1,...r}}async#h(){for await(let e of this.#t.frames())await this.#g(e),this.#e.progress?.(this.#t.read,this.#t.size);if(!this.#i)throw new L(0,`there is no header`);if(!this.#t.digestHolds)throw new L(1,`file was altered: its digest is not that of its bytes`);if(!this.#n.blocks)throw new L(2,`the header names ledger ${R(this.#i.genesis_id)}, and the file has no block`)}async#g(e){switch(e.kind){case Hi.HEADER:this.#_(ao(`evidence.Header`,e.payload,!0));return;case Hi.BLOCK_HEAD:this.#n.block(ao(`evidence.BlockHead`,e.payload,!0)),this.#n.blocks===1&&this.#y(this.#n.genesis,`the file's blocks begin with`);return;case Hi.BATCH:this.#b(e.payload);return;case Hi.LEAF_HASHES:this.#s.leaves(ao(`evidence.LeafHashes`,e.payload,!0));return;case Hi.BLOB:await this.#s.blob(ao(`evidence.Blob`,e.payload,!0));return;case Hi.SEALED_HEADER:this.#c.add(e.payload);return;default:this.#o??=new Ma(this.#n.stateRoot),this.#o.add(ao(`evidence.StateNode`,e.payload,!0))}}#_(e){if(e.version!==this.#t.format)throw new L(0,`the header has version ${e.version}, the file is of format ${this.#t.format}`);this.#v(e.genesis_id);let t=e.trip_ids;if(!t.length||new Set(t).size!==t.length||!t.every(pi))throw new L(0,`the header must name at least one trip, each once, by 32 lower-case hexadecimal digits`);this.#i=e;let n=this.#e.trust&&new Set(this.#e.trust.admin_keys);this.#a=new vu(new Set(t),n),this.#s=new mo(this.#a.recordings)}#v(e){let{trust:t}=this.#e;if(!t)return;let n=t.predecessors.findIndex(t=>t.genesis_block_id===e),r=t.predecessors[n];this.#f=r?{genesis:r.genesis_block_id,signers:r.block_signers,before:t.predecessors.slice(0,n),end:r}:{genesis:t.genesis_block_id,signers:t.block_signers,before:t.predecessors},this.#y(e,`the file is about the ledger that begins with`)}#y(e,t){let n=this.#f?.genesis;if(n!==void 0&&e!==n)throw new L(12,`${t} block ${R(e)}, which is not the trusted ${R(n)}`,{about:e});let r=this.#i?.genesis_id;if(r!==void 0&&e!==r)throw new L(2,`the header names ledger ${R(r)}, the blocks begin with ${R(e)}`,{about:e})}#b(e){let t=this.#a;for(let n of this.#n.batch(e))this.#n.once(n.transaction.header_signature),t.take(n,e=>this.#n.has(e))}#x(){for(let e of this.#i.trip_ids)this.#r.push(...Bu(e,this.#a))}async#S(){for(let e of this.#e.videos??[]){let t=await this.#s.compare(e.name,e.file);if(t)throw t}}#C(){let e=this.#f,t=[],n=e=>void t.push({check:12,text:e});if(!this.#e.trust)return t;this.#n.blocks||n(`the file has no block that the trusted keys could have signed`);for(let t of this.#n.signers)e?.signers.includes(t)||n(`blocks are signed by ${t}, which is not trusted`);if(this.#n.byNetwork)for(let e of this.#w())n(e);for(let e of[...this.#a?.adminKeys??[]].sort())this.#e.trust.admin_keys.includes(e)||n(`parties are registered by ${e}, which is not trusted`);let r=this.#E();return e&&!e.end&&e.before.length>0&&r?.length&&JSON.stringify(r)!==JSON.stringify(e.before)&&n(`the ledger goes on from other ledgers than the trust file says`),t}#w(){let e=this.#e.trust?.network,t=this.#l;return e?t?t.chain_id===e.chain_id&&t.began_with.size===e.validators.size&&[...t.began_with].every(([t,n])=>e.validators.get(t)===n)?[]:[`the network that sealed the blocks began as ${t.chain_id} with other validators or powers than the trusted one`]:[]:[`a network of validators made the blocks, and the trust file names one signer, not the validators`]}#T(){let e=this.#f?.end,t=this.#n.blocks-1;if(!(!e||t<e.block_num||t===e.block_num&&this.#n.lastId===e.block_id))throw new L(12,`expected a ledger that ended with block ${e.block_num}, ${R(e.block_id)}, got block ${t}, ${R(this.#n.lastId)}`)}#E(){let e=this.#o?.find(ba(`wayseal.predecessors`));if(e&&`value`in e)try{let t=B.decode(`sawtooth.Setting`,e.value).entries.find(e=>e.key===`wayseal.predecessors`);return t&&JSON.parse(t.value).map(Ei)}catch{return}}#D(){if(this.#t.format===1)return;let e=this.#i,t=this.#o??new Ma(this.#n.stateRoot),n=new Pa(this.#a,t,e.trip_ids,e.without_lots).compare();this.#r.push(...n.problems),this.#u=n.leftOut,this.#d=n.places}};function Bu(e,t){let n=[],r=(t,r={})=>void n.push({check:7,about:e,text:`trip ${e}: ${t}`,...r}),i=t.store.entries.get(G(e))?.value;if(!i)return r(`its start is missing`),n;let a=i.start;for(let n of Vu(e,t))Lu.includes(n.rule)&&r(`${n.rule}: ${n.detail}`,{rule:n.rule});for(let n of[a.device_id,...a.other_device_ids]){let i=t.store.entries.get(pa(e,n))?.value;if(!i?.seal){r(`device ${n}: no seal, so readings may be missing`);continue}let a=new Set(i.recorded_videos.map(j));for(let e of i.seal.recordings){let t=j(e.sha256);a.has(t)||r(`recording ${t} is sealed, its digest is missing`)}}return n}function Vu(e,t){let n=`${W(e)}04`,r=[];for(let[e,i]of t.store.entries)e.startsWith(n)&&r.push(...i.value.findings);return r}self.onmessage=async({data:e})=>{let t=e=>self.postMessage(e);try{let n=e.trust===null?void 0:Ci(e.trust),r=await Ru({file:e.file,trust:n,pool:new ur,progress:(e,n)=>t({read:e,of:n})}),[i,a]=Yr[r.verdict],o=r.exit<2?Qr(r,n!==void 0):[];t({verdict:r.verdict,title:i,means:a,problems:r.problems.map(e=>e.text),checks:o})}catch(e){let[n,r]=Yr[`not-checked`];t({verdict:`not-checked`,title:n,means:r,problems:[e instanceof Error?e.message:String(e)],checks:[]})}};