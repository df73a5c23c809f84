// Runs test files, some at the same time: `node run-files.ts GROUP… JOBS`. The files of a group are separated by commas, and share a process. Prints TAP as
// the command `tap` does. That command loads modules into each test process that record every file that it reads, and prevent the compile cache. Only
// coverage needs them.

import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import t from 'tap'
import { nameGroup } from '../groups/group.ts'

const TIMEOUT_MILLISECONDS = 900_000
const RUN_GROUP = 'test/support/groups/run-group.ts'

const groups = process.argv.slice(2)
t.jobs = Number(groups.pop())
t.setTimeout(0) // each process has its own limit
process.on('message', (jobs) => {
  t.jobs = Number(jobs)
})
process.channel?.unref()
process.env.TAP_TIMEOUT = String(TIMEOUT_MILLISECONDS / 1_000)

function openResult(name: string): WriteStream {
  const result = path.join('.tap/test-results', name)
  mkdirSync(path.dirname(result), { recursive: true })
  return createWriteStream(result)
}

/** Writes the TAP of each file of a group as if the file had run by itself. */
function splitGroup(stdout: Readable): void {
  let result: WriteStream | undefined
  createInterface(stdout).on('line', (line) => {
    const file = /^# Subtest: (.*)$/.exec(line)?.[1]
    if (file !== undefined) result = openResult(`${file}.tap`)
    else if (/^(?:not )?ok /.test(line)) result = void result?.end(line.replace(/^.*(?=# time=)/, ''))
    else result?.write(`${line.replace(/^ {4}/, '')}\n`)
  })
}

t.on('spawn', (test) => {
  const isGroup = test.name.includes(' ')
  test.on('process', ({ stdout, stderr }) => {
    if (isGroup && stdout) splitGroup(stdout)
    else stdout?.pipe(openResult(`${test.name}.tap`))
    stderr?.pipe(openResult(`${test.name.split(' ').at(-1)}.log`))
  })
})
const options = { buffered: t.jobs > 1, timeout: TIMEOUT_MILLISECONDS, stdio: 'pipe', at: null, stack: '' } as const
for (const group of groups) {
  const files = group.split(',')
  t.spawn(process.execPath, files.length > 1 ? [RUN_GROUP, ...files] : files, { ...options, name: nameGroup(files) })
}
