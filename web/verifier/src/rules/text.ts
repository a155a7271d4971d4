// docs/contract.md, "Form" and "Text".

import { REC20 } from "./rec20.ts";

const NOT_TEXT: readonly [number, number][] = [
  [0x0000, 0x001f], [0x007f, 0x009f], [0x00a0, 0x00a0], [0x00ad, 0x00ad], [0x061c, 0x061c],
  [0x1680, 0x1680], [0x180e, 0x180e], [0x2000, 0x200b], [0x200e, 0x200f], [0x2028, 0x202f],
  [0x205f, 0x206f], [0x3000, 0x3000], [0xd800, 0xdfff], [0xe000, 0xf8ff], [0xfdd0, 0xfdef],
  [0xfeff, 0xfeff], [0xfff9, 0xfffb], [0xe0000, 0xe007f], [0xf0000, 0x10ffff],
];

function isTextCode(code: number): boolean {
  if ((code & 0xfffe) === 0xfffe) return false;
  return !NOT_TEXT.some(([first, last]) => code >= first && code <= last);
}

/** Lengths count code points, not units of UTF-16. */
export function isText(text: string, most: number): boolean {
  const codes = [...text];
  return codes.length >= 1 && codes.length <= most && codes.every((each) => isTextCode(each.codePointAt(0) as number));
}

const GS1 = /^[!"%&'()*+,\-./0-9:;<=>?A-Z_a-z]{1,20}$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const KEY = /^0[23][0-9a-f]{64}$/;
const TRIP_ID = /^[0-9a-f]{32}$/;
const SEAL_NUMBER = /^[A-Za-z0-9/._-]{1,20}$/;

export const isGs1 = (text: string): boolean => GS1.test(text);
export const isId = (text: string): boolean => ID.test(text);
export const isKey = (text: string): boolean => KEY.test(text);
export const isTripId = (text: string): boolean => TRIP_ID.test(text);
export const isSealNumber = (text: string): boolean => SEAL_NUMBER.test(text);

export function isUnit(text: string, version: number): boolean {
  if (version >= 1) return REC20.has(text);
  const codes = [...text];
  return codes.length >= 1 && codes.length <= 3 && codes.every((each) =>
    /^[A-Za-z0-9]$/.test(each) || ((each.codePointAt(0) as number) > 0x7f && isTextCode(each.codePointAt(0) as number)));
}

/** GS1's check digit: weights 3 and 1 from the right. */
export function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    sum += Number(digits[digits.length - 1 - at]) * (at % 2 ? 3 : 1);
  }
  return sum % 10 === 0;
}

export const isGtin = (text: string): boolean => /^(\d{8}|\d{12}|\d{13}|\d{14})$/.test(text) && hasCheckDigit(text);
export const isGln = (text: string): boolean => /^\d{13}$/.test(text) && hasCheckDigit(text);
export const isSscc = (text: string): boolean => /^\d{18}$/.test(text) && hasCheckDigit(text);

const SPACES = /^[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;
/** A key in a setting on the ledger is read without whitespace around it. */
export const trimmed = (text: string): string => text.replace(SPACES, "");
