/**
 * `npm run gallery -- --console`: every page of the web console of the cluster of `npm start`, light and dark, in .tintype/gallery/console.
 *   -- --console --only usage,keys       only these pages
 *
 * `npm run gallery -- --corpus`: captures of pages made from packages, compared with approved references; see docs/corpus.md.
 *   -- --corpus --only aos,vue           only these pages
 *   -- --corpus --delay 50               milliseconds added to every response
 *   -- --corpus --slow [--at-once 3]     pictures by plain Playwright with long waits, for visual comparison
 *   -- --corpus --repeat 10 --only aos  distinct files of ten captures, with and without the wait for visual stability
 *   -- --corpus --approve aos,vue:full   store references; --from runner or slow, --note TEXT
 */
import { parseArgs } from 'node:util'
import { captureConsole } from './console.ts'
import { runCorpus } from './corpus/main.ts'

const TEXT = { type: 'string' } as const
const OPTIONS = {
  only: TEXT,
  corpus: { type: 'boolean' },
  console: { type: 'boolean' },
  slow: { type: 'boolean' },
  delay: TEXT,
  'at-once': TEXT,
  approve: TEXT,
  repeat: TEXT,
  from: TEXT,
  note: TEXT,
} as const

function readOptions() {
  try {
    const { values } = parseArgs({ options: OPTIONS })
    if (values.console !== values.corpus) return values
    console.error('name one of --console and --corpus. The head of test/gallery/main.ts lists the options.')
  } catch (error) {
    console.error(`${(error as Error).message}. The head of test/gallery/main.ts lists the options.`)
  }
  process.exit(2)
}

const values = readOptions()
const only = values.only?.split(',')
if (values.console) process.stdout.write(`${await captureConsole(only)}\n`)
else {
  const { approve, note } = values
  const isRight = await runCorpus({
    ...(only ? { only } : {}),
    ...(approve ? { approve: approve.split(',') } : {}),
    ...(note ? { note } : {}),
    ...(values.repeat ? { repeat: Number(values.repeat) } : {}),
    delayMilliseconds: Number(values.delay ?? 0),
    slow: values.slow ?? false,
    atOnce: Number(values['at-once'] ?? 2),
    from: values.from === 'slow' ? 'slow' : 'runner',
  })
  process.exitCode = isRight ? 0 : 1
}
