import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Test } from 'tap'
import { choices, network } from '../../cluster/host/state.ts'

/** Programs in the network of the node can only be started on the embedded cluster. Else: the reason to skip. */
export const foreignNode = choices.cluster === 'current' ? 'needs the node network of the embedded cluster' : false

/**
 * Starts a program of test/support, given by its path there, in the network namespace of the node, so that its listeners are hosts outside
 * the cluster. Its first message is `'ready'`; the array receives all later messages. The program ends with the test, even if the test is
 * killed (own-addresses.ts).
 * @param settings settings of the program, passed as JSON in its first argument
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
