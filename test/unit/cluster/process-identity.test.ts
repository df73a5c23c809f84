import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { identify, isRunning, isZombie, parseStartTicks, signal } from '../../cluster/host/process-identity.ts'

const stat = (name: string, state = 'S', threads = 11) =>
  `4711 (${name}) ${state} 1 4711 4711 0 -1 4194560 100 0 0 0 5 2 0 0 20 0 ${threads} 0 987654 1000000 500`

for (const name of ['etcd', 'tmux: server', 'a) S 1 (b', ')']) {
  t.test(`parseStartTicks finds the start of a process called ${name}`, async (t) => t.equal(parseStartTicks(stat(name)), 987_654))
}

t.test('isZombie is not misled by the name of a process', async (t) => {
  t.ok(isZombie(stat('etcd', 'Z', 1)))
  t.notOk(isZombie(stat('a) Z b')))
})

t.test('threads of an ended API server can still hold its port', async (t) => {
  t.notOk(isZombie(stat('kube-apiserver', 'Z', 3)), 'its first thread has ended, and others still hold its sockets')
})

t.test('isRunning is true until the process ends', async (t) => {
  const child = spawn('sleep', ['60'])
  const identity = (await identify(child.pid!))!
  t.ok(await isRunning(identity))
  child.kill()
  await once(child, 'exit')
  t.notOk(await isRunning(identity))
})

t.test('signal does not reach a process that reuses the number', async (t) => {
  const child = spawn('sleep', ['60'])
  t.teardown(() => child.kill('SIGKILL'))
  const identity = (await identify(child.pid!))!
  await signal({ ...identity, startTicks: identity.startTicks - 1 }, 'SIGKILL')
  await signal({ ...identity, bootId: 'an earlier start of the machine' }, 'SIGKILL')
  t.ok(await isRunning(identity))
})

t.test('signal reaches the identified process', async (t) => {
  const child = spawn('sleep', ['60'])
  await signal((await identify(child.pid!))!, 'SIGKILL')
  const [, name] = await once(child, 'exit')
  t.equal(name, 'SIGKILL')
})
