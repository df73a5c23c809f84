import { spawnSync } from 'node:child_process'
import path from 'node:path'
import t from 'tap'
import { compileCache } from '../../support/processes/compile-cache.ts'

// Programs with an invalid URL of the store end at once, and say which variable to change, without a stack trace.

const root = path.join(import.meta.dirname, '../../..')
const PROGRAMS: Record<string, string[]> = {
  gateway: ['api-gateway/src/main.ts'],
  operator: ['operator/src/main.ts'],
  'setup of the bundled store': ['operator/src/main.ts', 'setup-storage'],
}

for (const [name, [file = '', ...args]] of Object.entries(PROGRAMS)) {
  t.test(`${name} ends with one line for a store without a protocol`, async (t) => {
    const env = { PATH: process.env.PATH ?? '', ...compileCache, TINTYPE_STORAGE_ENDPOINT: 'store.example:9000' }
    const { status, stderr } = spawnSync(process.execPath, [path.join(root, file), ...args], { env, encoding: 'utf8', timeout: 60_000 })
    t.equal(status, 1)
    t.match(stderr, /must begin with http:\/\/ or https:\/\/, such as https:\/\/s3\.example\.com .*\n +→ at TINTYPE_STORAGE_ENDPOINT/)
    t.notMatch(stderr, /^ +at /m, 'no stack trace')
  })
}
