// Uploads a file with tus-js-client: ENDPOINT TOKEN FILE SHA256 STORE, where STORE may be empty.
const fs = require('node:fs')
const tus = require('tus-js-client')

const [endpoint, token, file, sha256, store] = process.argv.slice(2)
const PIECE_BYTES = 1 << 20

const upload = new tus.Upload(fs.createReadStream(file), {
  endpoint,
  headers: { Authorization: `Bearer ${token}` },
  metadata: { sha256 },
  chunkSize: PIECE_BYTES,
  retryDelays: [0, 50, 100],
  storeFingerprintForResuming: store !== '',
  urlStorage: store === '' ? undefined : new tus.FileUrlStorage(store),
  onError(error) {
    console.log(String(error))
    process.exit(1)
  },
  onSuccess() {
    process.exit(0)
  },
})

async function start() {
  const [known] = store === '' ? [] : await upload.findPreviousUploads()
  if (known) upload.resumeFromPreviousUpload(known)
  upload.start()
}

start()
