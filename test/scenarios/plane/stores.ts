import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { presign } from '../../../crds/src/crypto/presign.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { run } from '../../cluster/host/exec.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import { applyPatches, readTestPatches } from '../../cluster/programs/minio-patches.ts'
import { buildEnvironment, prepareMinioSource } from '../../cluster/programs/programs.ts'
import { startVersitygw } from '../../cluster/programs/versitygw.ts'
import { createDirectory } from '../../support/directory.ts'
import { openTestStore, type TestStore } from '../../support/servers/test-store.ts'
import { daemonOf, readMemory } from '../harness/processes.ts'
import { type Context, scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'

// The two bundled stores with the requests of Tintype: presigned uploads and downloads, small records, and lists of a large folder.

const SIZES = { '100 KB': 100_000, '2 MB': 2_000_000 } as const
/** Uploads and downloads of each size. */
const REQUESTS = 200
const OBJECTS = 100_000
const AT_ONCE = 16
const LISTS = 3

const STORES = { minio: startMinio, versitygw: startVersitygw } as const
type StoreName = keyof typeof STORES

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function transfer(store: TestStore, size: number): Promise<{ put: number; get: number }> {
  const [puts, gets]: [number[], number[]] = [[], []]
  const body = Buffer.alloc(size, 'x')
  const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
  for (let place = 0; place < REQUESTS; place++) {
    const key = `users/bench/${size}-${place}`
    const url = (method: 'PUT' | 'GET') =>
      presign(store.access(), { method, key, expiresSeconds: 600, now: new Date(), ...(method === 'PUT' ? { headers } : {}) })
    let status = 0
    let bytes = 0
    puts.push(await time(async () => ({ status } = await finish(await fetch(url('PUT'), { method: 'PUT', headers, body })))))
    gets.push(await time(async () => ({ bytes } = await finish(await fetch(url('GET'))))))
    if (status !== 200 || bytes !== size) throw new Error(`the store answered ${status} and ${bytes} bytes`)
  }
  return { put: median(puts), get: median(gets) }
}

async function finish(response: Response): Promise<{ status: number; bytes: number }> {
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
}

/** Writes small objects like archived records, some at once. */
async function fill(store: TestStore): Promise<void> {
  const storage = openStorage(store.access())
  const body = JSON.stringify({ text: 'x'.repeat(500) })
  await mapConcurrently([...Array(OBJECTS).keys()], AT_ONCE, (place) =>
    storage.write(`records/bench/${String(place % 400).padStart(3, '0')}/scr_${String(place).padStart(26, '0')}`, body),
  )
}

async function list(store: TestStore): Promise<number> {
  let found = 0
  for await (const _ of store.connect().listObjectsV2('tintype', 'records/', true)) found++
  return found
}

async function measureOne({ ends, progress }: Context, name: StoreName): Promise<string[]> {
  const store = await openTestStore(ends, {}, STORES[name])
  const pid = daemonOf(store.directory, name)
  await openStorage(store.access()).ensureBucket()
  const idle = readMemory(pid)
  progress(`stores: ${name}, uploads and downloads`)
  const [small, large] = [await transfer(store, SIZES['100 KB']), await transfer(store, SIZES['2 MB'])]
  progress(`stores: ${name}, ${OBJECTS} records`)
  const filled = await time(() => fill(store))
  progress(`stores: ${name}, lists`)
  const lists: number[] = []
  for (let round = 0; round < LISTS; round++) {
    let found = 0
    lists.push(await time(async () => (found = await list(store))))
    if (found !== OBJECTS) throw new Error(`${name} listed ${found} of ${OBJECTS} objects`)
  }
  const memory = readMemory(pid)
  await store.stop()
  return [
    name,
    ...[small.put, small.get, large.put, large.get].map((milliseconds) => milliseconds.toFixed(1)),
    (OBJECTS / (filled / 1_000)).toFixed(0),
    (median(lists) / 1_000).toFixed(1),
    `${idle.residentMebibytes.toFixed(0)} / ${memory.peakMebibytes.toFixed(0)}`,
  ]
}

/** Measures both stores, one after the other. */
export const stores = scenario({
  name: 'stores',
  shows: 'uploads, downloads, lists of 100,000 objects and memory of MinIO and versitygw',
  run: async (context) => {
    const rows: string[][] = []
    for (const name of Object.keys(STORES) as StoreName[]) rows.push(await measureOne(context, name))
    const title = `The bundled stores: medians of ${REQUESTS} requests, one at a time; ${OBJECTS} records, ${AT_ONCE} at once; medians of ${LISTS} lists`
    const head = ['store', '100 KB PUT, ms', 'GET, ms', '2 MB PUT, ms', 'GET, ms', 'records a second', 'list of all, s', 'MiB idle / peak']
    context.table({ title, head, rows })
  },
})

/** Upstream's tests of the patched files and of their callers. */
const TEST_FILES = [
  'api-headers_test.go',
  'auth-handler_test.go',
  'bucket-policy-handlers_test.go',
  'generic-handlers_test.go',
  'handler-utils_test.go',
  'object-handlers_test.go',
  'post-policy_test.go',
  'server_test.go',
  'signature-v4-parser_test.go',
  'signature-v4-utils_test.go',
  'signature-v4_test.go',
  'streaming-signature-v4_test.go',
]
const MINUTES = 30

/** The names of the tests in a Go file. */
const testNames = (text: string): string[] => [...text.matchAll(/^func (Test\w+)\(/gm)].map(([, name]) => name!)

/** Counts top-level results in the output of `go test -v`. */
function countResults(output: string): { passed: number; failed: string[] } {
  const failed = [...output.matchAll(/^--- FAIL: (\w+)/gm)].map(([, name]) => name!)
  return { passed: output.match(/^--- PASS: /gm)?.length ?? 0, failed }
}

/** Tests the patched source with upstream's tests and rejected features enabled, and then as it is deployed. */
export const minio = scenario({
  name: 'minio',
  shows: 'the patched MinIO passes its own tests of the changed files, and the project’s tests',
  run: async ({ ends, holds, progress }) => {
    const directory = await createDirectory(ends, 'minio-tests')
    const source = path.join(directory, 'source')
    await prepareMinioSource(source)
    await applyPatches(source, await readTestPatches())
    const texts = await Promise.all(TEST_FILES.map((file) => readFile(path.join(source, 'cmd', file), 'utf8')))
    progress('compiling tests takes some minutes')
    const program = path.join(directory, 'cmd.test')
    await run('nice', ['go', 'test', '-c', '-o', program, './cmd'], { directory: source, environment: buildEnvironment })
    const test = async (claim: string, pattern: string, environment: Record<string, string>) => {
      const args = ['-test.v', `-test.timeout=${MINUTES}m`, '-test.run', pattern]
      const output = await run(program, args, { directory: path.join(source, 'cmd'), environment }).catch(
        (error: Error & { output?: string }) => error.output ?? error.message,
      )
      const { passed, failed } = countResults(output)
      holds(claim, passed > 0 && failed.length === 0, `${passed} passed, ${failed.join(', ') || 'none'} failed`)
    }
    const names = texts.flatMap(testNames).join('|')
    await test("MinIO's own tests of the changed files pass", `^(${names})$`, { TINTYPE_UPSTREAM_TESTS: '1' })
    await test('the project’s tests of the patches pass', '^TestTintype', {})
  },
})
