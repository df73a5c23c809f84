// Runs test files, some at the same time: `node run-files.ts FILE… JOBS`. Prints TAP as the command `tap` does. That command loads modules into each test
// process that record every file that it reads, and prevent the compile cache. Only coverage needs them.

import { createWriteStream, mkdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const TIMEOUT_MILLISECONDS = 900_000

const files = process.argv.slice(2)
t.jobs = Number(files.pop())
t.setTimeout(0) // each file has its own limit
process.env.TAP_TIMEOUT = String(TIMEOUT_MILLISECONDS / 1_000)
t.on('spawn', (test) => {
  const result = path.join('.tap/test-results', test.name)
  mkdirSync(path.dirname(result), { recursive: true })
  test.on('process', ({ stdout, stderr }) => {
    stdout?.pipe(createWriteStream(`${result}.tap`))
    stderr?.pipe(createWriteStream(`${result}.log`))
  })
})
const options = { buffered: t.jobs > 1, timeout: TIMEOUT_MILLISECONDS, stdio: 'pipe', at: null, stack: '' } as const
for (const file of files) t.spawn(process.execPath, [file], { ...options, name: file })
