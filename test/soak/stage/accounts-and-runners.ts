import { eventually } from '../../support/eventually.ts'
import { send } from './clients.ts'
import type { GatewayPod, Stage, StartOptions } from './stage.ts'

// Setup of most parts: accounts with valid keys, and idle runners.

const ACCEPTED = 202
const ACCOUNTS = ['soak-a', 'soak-b', 'soak-c', 'soak-d']

/** Starts a gateway, and waits for valid keys of some accounts and the given number of idle runners. Needs a running operator. */
export async function prepareAccountsAndRunners(
  stage: Stage,
  { runners, captureMilliseconds = 200, gateway: options = {} }: { runners: number; captureMilliseconds?: number; gateway?: StartOptions },
): Promise<{ gateway: GatewayPod; keys: string[]; accounts: readonly string[] }> {
  const gateway = await stage.startGateway(options)
  const keys = await Promise.all(ACCOUNTS.map(stage.createAccount))
  await stage.fleet.send({ captureMilliseconds })
  await stage.setPool({ minIdle: runners, maxPods: runners + 10 })
  await stage.whenIdle(runners)
  for (const key of keys)
    await eventually('the gateway accepts the key', async () => {
      const { status, text } = await send(`${gateway.url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/' } })
      if (status !== ACCEPTED) throw new Error(`the gateway returned ${status}: ${text}`)
      return true
    })
  return { gateway, keys, accounts: ACCOUNTS }
}
