import type { ChildProcess } from 'node:child_process'

const children = new Set<ChildProcess>()

/** Kills a program when this process exits, because a test file that crashes or times out runs no teardown. */
export function endWithTest(child: ChildProcess): void {
  if (children.size === 0) process.on('exit', killAll)
  children.add(child)
  child.once('exit', () => {
    children.delete(child)
    if (children.size === 0) process.off('exit', killAll)
  })
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL')
}
