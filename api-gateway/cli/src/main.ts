import path from 'node:path'
import { EXIT, Interrupted } from './common/errors.ts'
import { run } from './run.ts'
import { toOutput } from './terminal/output.ts'

// The process: arguments, signals and the exit code. A second interrupt ends it at once.

const controller = new AbortController()
const interrupt = (): void => {
  if (controller.signal.aborted) process.exit(EXIT.interrupted)
  controller.abort(new Interrupted())
}
process.on('SIGINT', interrupt)
process.on('SIGTERM', interrupt)
// `tintype list | head` closes the pipe early, which is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok)
  throw error
})

/** Standard input. An interrupt ends the read, also at a terminal where nothing is typed. */
async function* readInput(): AsyncGenerator<Uint8Array> {
  const { signal } = controller
  const end = (): void => void process.stdin.destroy(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  try {
    yield* process.stdin
  } finally {
    // After the last read, nobody handles the error of the stream.
    signal.removeEventListener('abort', end)
  }
}

process.exitCode = await run(process.argv.slice(2), {
  stdout: toOutput(process.stdout),
  stderr: toOutput(process.stderr),
  stdin: readInput(),
  environment: process.env,
  signal: controller.signal,
  now: () => new Date(),
  isKubectlPlugin: path.basename(process.argv[1] ?? '').startsWith('kubectl-tintype'),
})
