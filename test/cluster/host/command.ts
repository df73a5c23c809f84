/** Runs commands one at a time, prints readable failures, and handles interruptions. */
import { endRunning } from './exec.ts'
import { withLock } from './lock.ts'
import { paths } from './state.ts'
import { formatFailure } from './steps.ts'

const interruptedCode = 130

/** Runs the command while no other command runs. Sets the exit code to 1 when it fails. */
export const runCommand = (work: () => Promise<void>): Promise<void> => runBesideOthers(() => withLock(paths.lock, work, reportHolder))

/** Like {@link runCommand}, for work that needs no lock of its own. */
export async function runBesideOthers(work: () => Promise<void>): Promise<void> {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, endInterrupted)
  try {
    await work()
  } catch (error) {
    process.stderr.write(`\n${formatFailure(error)}\n`)
    process.exitCode = 1
  }
}

/** The lock file remains, but the next run ignores it, because its holder has ended. */
function endInterrupted(): void {
  endRunning()
  process.stderr.write('\nInterrupted. Run the same command again to continue: completed steps are kept.\n')
  process.exit(interruptedCode)
}

function reportHolder(pid: number): void {
  process.stdout.write(`Waiting for another run to finish (process ${pid}).\n`)
}
