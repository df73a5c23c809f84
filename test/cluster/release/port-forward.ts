/** On a cluster that is not ours there is no way in over loopback but kubectl's: a port-forward to the gateway that outlives `npm start`. */
import { type Daemon, ensureDaemon, isDaemonRunning, logOf } from '../host/daemons.ts'
import { network, releaseName, releaseNamespace } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'
import { place } from '../kubernetes/network.ts'

const daemon: Daemon = {
  name: 'port-forward',
  command: 'kubectl',
  args: ['port-forward', '--namespace', releaseNamespace, `service/${releaseName}-api-gateway`, `${network.hostGatewayPort}:8080`],
}

/** Opens 127.0.0.1 to the gateway unless it is open. */
export async function ensurePortForward(): Promise<string> {
  const wasStarted = await ensureDaemon(place, daemon)
  try {
    await waitFor('the port-forward', isAnswering, {
      timeoutMilliseconds: 10_000,
      givenUp: async () => ((await isDaemonRunning(place, daemon.name)) ? undefined : 'kubectl ended'),
    })
  } catch (cause) {
    throw new StepError('kubectl port-forward does not come up', { remedy: 'read its log', log: logOf(place, daemon.name), cause })
  }
  return wasStarted ? 'kubectl port-forward started' : 'already up'
}

async function isAnswering(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${network.hostGatewayPort}/api/v1/status`).then(
    () => true,
    () => false,
  )
}
