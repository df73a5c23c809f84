import t from 'tap'
import { call, download, finished, type RecordBody } from '../support/api-client.ts'
import { kubectl, kubectlJson } from '../support/cluster-environment.ts'
import { eventually } from '../support/eventually.ts'
import { page } from '../support/pages.ts'
import { decode, isNear } from '../support/picture.ts'

// Kill at the worst moment: whatever dies, every Screenshot ends completed or failed with a true reason, and with its own picture.

interface Shot {
  metadata: { name: string; uid: string }
  status: { phase: string; attempt?: number; runner?: { pod: string }; result?: { error?: { code: string } } }
}

/** A page whose whole window has one colour, so that a picture tells which request it belongs to. */
const colourOf = (n: number): [number, number, number] => [(n * 37) % 256, (n * 91) % 256, (n * 151) % 256]
const hex = (n: number): string =>
  colourOf(n)
    .map((channel) => channel.toString(16).padStart(2, '0'))
    .join('')
const colourPage = (n: number): string => page(`/solid?color=${hex(n)}`)

const create = async (url: string, options: object = {}): Promise<string> => {
  const { body, status } = await call<RecordBody>('/api/v1/screenshots', { method: 'POST', body: { url, options } })
  if (status !== 202) throw new Error(`create answered ${status}: ${JSON.stringify(body)}`)
  return body.id
}

const shotOf = (id: string): Promise<Shot> => kubectlJson<Shot>(['get', 'screenshot', id.replace('_', '-')])

const running = (id: string): Promise<Shot> =>
  eventually(`${id} runs`, async () => {
    const shot = await shotOf(id)
    return shot.status.phase === 'Running' && shot
  })

const small = { viewport_width: 64, viewport_height: 64 }

t.test('a runner pod killed during a capture costs an attempt, not the screenshot', async (t) => {
  const id = await create(colourPage(1), { ...small, delay: 6000 })
  const { status } = await running(id)
  await kubectl(['delete', 'pod', status.runner?.pod ?? '', '--grace-period=0', '--force'])
  const record = await finished(id, 120_000)
  t.equal(record.status, 'completed', JSON.stringify(record.error))
  t.equal(record.attempts, 2)
  t.ok(isNear((await decode(await download(record))).at(32, 32), colourOf(1)))
})

t.test('the leader killed during a batch of 50 loses nothing and mixes no files', { timeout: 400_000 }, async (t) => {
  const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => create(colourPage(n), small)))
  const lease = await kubectlJson<{ spec: { holderIdentity: string } }>(['get', 'lease', 'tintype-operator'])
  const pods = await kubectlJson<{ items: { metadata: { name: string; uid: string } }[] }>([
    'get',
    'pods',
    '-l',
    'app.kubernetes.io/component=operator',
  ])
  const leader = pods.items.find(({ metadata }) => metadata.uid === lease.spec.holderIdentity)
  t.ok(leader, 'the lease names a pod that exists')
  await kubectl(['delete', 'pod', leader?.metadata.name ?? '', '--grace-period=0', '--force'])
  for (const [n, id] of ids.entries()) {
    const record = await finished(id, 300_000)
    if (record.status !== 'completed') {
      t.fail(`${id} ended ${record.status}: ${JSON.stringify(record.error)}`)
      continue
    }
    t.ok(isNear((await decode(await download(record))).at(32, 32), colourOf(n)), `${id} shows its own page`)
  }
})
