import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'minio'
import { presign } from '../../crds/src/crypto/presign.ts'
import { type MinioOptions, startMinio } from '../cluster/programs/minio.ts'
import { median } from './report/statistics.ts'
import type { Table } from './report/table.ts'
import { parseProcessor } from './rest/processor.ts'

// Cost of the patches in the bundled store: the same presigned uploads and reads with and without them, alternately.

const BUCKET = 'tintype'
/** Uploads and reads of each size in each round. */
const REQUESTS = 100
const SIZES = { '100 KB': 100_000, '2 MB': 2_000_000 } as const
const BUILDS = ['upstream', 'ours'] as const
type Build = (typeof BUILDS)[number]

/** Results of one build in one round, per request. */
interface Sample {
  milliseconds: number
  processorMilliseconds: number
}

interface RunningStore {
  access: Parameters<typeof presign>[0]
  used: () => Promise<number>
  close: () => Promise<void>
}

async function open(build: NonNullable<MinioOptions['build']>): Promise<RunningStore> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-bench-store-'))
  const { endpoint, port, accessKey, secretKey, stop } = await startMinio({ directory, build })
  const client = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region: 'us-east-1', pathStyle: true })
  await client.makeBucket(BUCKET)
  const { pid } = JSON.parse(await readFile(path.join(directory, 'daemons/minio.json'), 'utf8')) as { pid: number }
  return {
    access: { endpoint, region: 'us-east-1', bucket: BUCKET, accessKey, secretKey },
    used: async () => parseProcessor(await readFile(`/proc/${pid}/stat`, 'utf8')),
    close: async () => {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Writes and reads each object once, like runners and clients. */
async function putAndGet({ access, used }: RunningStore, prefix: string, size: number): Promise<Sample> {
  const body = Buffer.alloc(size, 'x')
  const before = await used()
  const started = performance.now()
  for (let place = 0; place < REQUESTS; place++) {
    const key = `users/${prefix}/${place}`
    const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
    const put = await fetch(presign(access, { method: 'PUT', key, headers, expiresSeconds: 600, now: new Date() }), {
      method: 'PUT',
      headers,
      body,
    })
    await put.arrayBuffer()
    const got = await fetch(presign(access, { method: 'GET', key, expiresSeconds: 600, now: new Date() }))
    const { byteLength } = await got.arrayBuffer()
    if (put.status !== 200 || byteLength !== size) throw new Error(`the store answered ${put.status} and ${byteLength} bytes`)
  }
  const milliseconds = (performance.now() - started) / REQUESTS
  return { milliseconds, processorMilliseconds: ((await used()) - before) / REQUESTS }
}

/** Alternates between both builds, and swaps their order in each round. Ratios compare builds of one round. */
export async function measureStore({ rounds }: { rounds: number }, progress: (line: string) => void): Promise<Table> {
  const stores = { upstream: await open('upstream'), ours: await open('ours') }
  const rows: string[][] = []
  try {
    for (const build of BUILDS) await putAndGet(stores[build], 'warm', SIZES['100 KB'])
    for (const [name, size] of Object.entries(SIZES)) {
      const samples: Record<Build, Sample[]> = { upstream: [], ours: [] }
      for (let round = 0; round < rounds; round++) {
        for (const build of round % 2 === 0 ? BUILDS : BUILDS.toReversed()) {
          samples[build].push(await putAndGet(stores[build], `${size}-${round}`, size))
        }
        progress(`store: ${name}, round ${round + 1} of ${rounds}`)
      }
      rows.push(rowOf(name, samples))
    }
  } finally {
    for (const build of BUILDS) await stores[build].close()
  }
  const title = `One presigned PUT and one GET: ratio of MinIO with patches to MinIO without (medians of ${rounds} rounds of ${REQUESTS})`
  return { title, head: ['size', 'processor ms, upstream', 'processor ms, patched', 'ratio', 'ms, upstream', 'ms, patched', 'ratio'], rows }
}

function rowOf(name: string, { upstream, ours }: Record<Build, Sample[]>): string[] {
  const cells = (value: (sample: Sample) => number): string[] => {
    const ratios = ours.map((sample, round) => value(sample) / value(upstream[round]!))
    return [median(upstream.map(value)).toFixed(2), median(ours.map(value)).toFixed(2), median(ratios).toFixed(2)]
  }
  return [name, ...cells((sample) => sample.processorMilliseconds), ...cells((sample) => sample.milliseconds)]
}
