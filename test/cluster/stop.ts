/** `npm stop`: takes the embedded cluster down and keeps what it stored; `-- --purge` forgets that too, but not what was built. */
import { parseArgs } from 'node:util'
import { purge, stopNode } from './down.ts'
import { withLock } from './lock.ts'
import { requireRoot } from './packages.ts'
import { cache, choices, paths } from './state.ts'
import { formatFailure, runSteps, type Step } from './steps.ts'

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { purge: { type: 'boolean' } } })
  if (choices.cluster === 'current') {
    process.stdout.write('The current kubectl context is not ours to stop. To remove Tintype from it: helm uninstall tintype -n tintype\n')
    return
  }
  requireRoot()
  const stop: Step = {
    name: 'Embedded cluster',
    run: async () => {
      const ended = await stopNode()
      return ended === 0 ? 'was not running' : `stopped (${ended} programs)`
    },
  }
  const forget: Step = {
    name: 'State',
    run: async () => {
      await purge()
      return `removed; what was built stays in ${cache}`
    },
  }
  await withLock(paths.lock, () => runSteps(values.purge ? [stop, forget] : [stop]), tellHolder)
}

const tellHolder = (pid: number): void => void process.stdout.write(`Another run (process ${pid}) is at work: waiting for its end.\n`)

await main().catch((error: unknown) => {
  process.stderr.write(`${formatFailure(error)}\n`)
  process.exitCode = 1
})
