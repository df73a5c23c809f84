import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Test } from 'tap'
import { choices, network } from '../../cluster/host/state.ts'

/** Programs in the network of the node can only be started on the embedded cluster. Else: the reason to skip. */
export const foreignNode = choices.cluster === 'current' ? 'needs the node network of the embedded cluster' : false

/**
 * Starts a program of test/support, by its path there, in the network namespace of the node, where its listeners are hosts beside the cluster. It says
 * `'ready'` first; what it says after that is in the array. It ends with the test, also when the test is killed (own-addresses.ts).
 *
 * @param settings the program's, as JSON in its first argument
 */
export async function startInCluster<Message>(t: Test, program: string, settings: unknown): Promise<Message[]> {
  const args = [`--net=${network.namespacePath}`, process.execPath, path.join(import.meta.dirname, '..', program), JSON.stringify(settings)]
  const child = spawn('nsenter', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { PATH: process.env.PATH } })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    if (child.connected) child.disconnect()
    await ended
  })
  const said: Message[] = []
  const [first] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => {
      throw new Error(`${program} ended with ${code}`)
    }),
  ])) as unknown[]
  if (first !== 'ready') throw new Error(`${program} began with ${JSON.stringify(first)}`)
  child.on('message', (message) => said.push(message as Message))
  return said
}
