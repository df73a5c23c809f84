/** The frame of every command: one at a time, readable failures, and an interruption that the next run can go on from. */
import { endRunning } from './exec.ts'
import { withLock } from './lock.ts'
import { paths } from './state.ts'
import { formatFailure } from './steps.ts'

const interruptedCode = 130

/** Runs the command while no other is at work, and ends the process. */
export async function runCommand(work: () => Promise<void>): Promise<void> {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, endInterrupted)
  try {
    await withLock(paths.lock, work, tellHolder)
  } catch (error) {
    process.stderr.write(`\n${formatFailure(error)}\n`)
    process.exitCode = 1
  }
}

/** The lock stays behind; it is void as its holder is gone. */
function endInterrupted(): void {
  endRunning()
  process.stderr.write('\nInterrupted. What is done stays done: the same command goes on from here.\n')
  process.exit(interruptedCode)
}

function tellHolder(pid: number): void {
  process.stdout.write(`Another run (process ${pid}) is at work: waiting for its end.\n`)
}
