/** A `kubectl port-forward` to the gateway that outlives `npm start`. Only clusters other than the embedded one need it. */
import { type Daemon, ensureDaemon, findEnd, logOf } from '../host/daemons.ts'
import { network, releaseName, releaseNamespace } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'
import { place } from '../kubernetes/network.ts'

const daemon: Daemon = {
  name: 'port-forward',
  command: 'kubectl',
  args: ['port-forward', '--namespace', releaseNamespace, `service/${releaseName}-api-gateway`, `${network.hostGatewayPort}:8080`],
}

/** Opens the port on 127.0.0.1 unless it is already open. */
export async function ensurePortForward(): Promise<string> {
  const wasStarted = await ensureDaemon(place, daemon)
  try {
    await waitFor('the port-forward', isResponding, {
      timeoutMilliseconds: 10_000,
      findFailure: () => findEnd(place, daemon.name),
    })
  } catch (cause) {
    throw new StepError('kubectl port-forward did not start', { remedy: 'read its log', log: logOf(place, daemon.name), cause })
  }
  return wasStarted ? 'kubectl port-forward started' : 'already up'
}

async function isResponding(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${network.hostGatewayPort}/api/v1/status`).then(
    () => true,
    () => false,
  )
}
