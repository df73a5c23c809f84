import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { startReceiver, startStage } from './stage.ts'

const stage = await startStage(t)
const receiver = await startReceiver(t)
const directory = await mkdtemp(join(tmpdir(), 'tintype-kill-'))
const ca = join(directory, 'ca.crt')
await writeFile(ca, receiver.ca)
t.teardown(() => rm(directory, { recursive: true, force: true }))

/** Starts deliveries as a process. Returns a function that kills it. */
async function startOperator(retryDelayMilliseconds: number): Promise<() => Promise<void>> {
  const program = join(import.meta.dirname, 'program.ts')
  const args = [program, stage.plane.kubeconfigPath, ca, String(retryDelayMilliseconds)]
  const operator = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = async () => {
    if (operator.exitCode !== null || operator.signalCode !== null) return
    operator.kill('SIGKILL')
    await once(operator, 'exit')
  }
  t.teardown(kill)
  await once(operator.stdout, 'data')
  return kill
}

t.test('delivery that was killed between two attempts continues with the next one, with the same bytes', async (t) => {
  receiver.received.length = 0
  receiver.answer = answerWith(500)
  const kill = await startOperator(5_000)
  await stage.subscribe('between', { url: receiver.url })
  const shot = await stage.complete()
  await stage.whenEntry(shot, 'between', { state: 'open', attempts: 1 })
  await kill()
  receiver.answer = answerWith(200)
  const killAgain = await startOperator(5_000)
  t.equal((await stage.whenEntry(shot, 'between', { state: 'ok' })).attempts, 2)
  await killAgain()
  t.strictSame(
    receiver.received.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2'],
  )
  t.equal(new Set(receiver.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size, 1)
  await stage.hooks.delete('between')
})

t.test('delivery that was killed during its attempts repeats only those, with the same id', async (t) => {
  receiver.received.length = 0
  receiver.answer = () => {} // keeps every post waiting
  const kill = await startOperator(200)
  await stage.subscribe('during', { url: receiver.url })
  const shot = await stage.complete()
  await receiver.whenReceived(1)
  await kill()
  receiver.answer = answerWith(200)
  const killAgain = await startOperator(200)
  t.equal((await stage.whenEntry(shot, 'during', { state: 'ok' })).attempts, 1)
  await killAgain()
  t.strictSame(
    receiver.received.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '1'],
  )
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
})
