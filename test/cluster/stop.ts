/** `npm stop`: stops the embedded cluster and keeps its data. `-- --purge` also deletes the data, but not the built programs and images. */
import { parseArgs } from 'node:util'
import { runCommand } from './host/command.ts'
import { stopDaemon } from './host/daemons.ts'
import { requireRoot } from './host/packages.ts'
import { cache, choices } from './host/state.ts'
import { runSteps, type Step } from './host/steps.ts'
import { purge, stopNode } from './kubernetes/down.ts'
import { place } from './kubernetes/network.ts'

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { purge: { type: 'boolean' } } })
  if (choices.cluster === 'current') {
    await stopDaemon(place, 'port-forward')
    process.stdout.write(
      'npm stop does not stop the cluster of the current kubectl context. To remove Tintype from it, run: helm uninstall tintype -n tintype\n',
    )
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
      return `removed; built programs and images stay in ${cache}`
    },
  }
  await runSteps(values.purge ? [stop, forget] : [stop])
}

await runCommand(main)
