import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { pathOf } from '../../../api-gateway/src/openapi/document.ts'
import { routes } from '../../../api-gateway/src/resources/all.ts'
import { CommandError, run } from '../../cluster/host/exec.ts'
import { ensurePythonTools, locatePythonTools } from '../../fuzz/python-tools.ts'
import { startStage } from './stage.ts'

// Requests made of the OpenAPI document, right ones and wrong ones, alone and in chains along its links, against a real gateway. The run has a
// seed and a bounded number of examples; it needs more than a minute because there are that many routes.

const TIMEOUT_MILLISECONDS = 540_000

await ensurePythonTools()
const source = path.join(import.meta.dirname, '../../fuzz')
const stage = await startStage()
const directory = await mkdtemp(path.join(tmpdir(), 'tintype-fuzz-'))
t.teardown(async () => {
  await stage.stop()
  await rm(directory, { recursive: true, force: true })
})

interface Entry {
  request: { method: string; url: string }
  response: { status: number }
}

interface Run {
  isClean: boolean
  output: string
  entries: Entry[]
}

/** Runs schemathesis in a directory of its own, where it may leave what it likes. */
async function fuzz(): Promise<Run> {
  for (const file of ['hooks.py', 'schemathesis.toml']) await copyFile(path.join(source, file), path.join(directory, file))
  const report = path.join(directory, 'run.har')
  const args = ['run', `${stage.gateway.url}/api/v1/openapi.json`, '--checks=all', '--report=har', `--report-har-path=${report}`]
  const environment = { FUZZ_KEY: stage.key, FUZZ_KEY_ID: stage.keyId, FUZZ_FILE: stage.file, NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1' }
  const program = path.join(await locatePythonTools(), 'schemathesis')
  const running = run(program, args, { environment, directory, timeoutMilliseconds: TIMEOUT_MILLISECONDS })
  const { isClean, output } = await running.then(
    (output) => ({ isClean: true, output }),
    (error: unknown) => {
      if (!(error instanceof CommandError)) throw error
      return { isClean: false, output: error.output }
    },
  )
  return { isClean, output, entries: await readEntries(report) }
}

/** None when the run did not come to its end: its output says why. */
async function readEntries(report: string): Promise<Entry[]> {
  try {
    return (JSON.parse(await readFile(report, 'utf8')) as { log: { entries: Entry[] } }).log.entries
  } catch {
    return []
  }
}

/** `/api/v1/keys/{id}/rotate` as an expression over paths. */
const toPattern = (documented: string): RegExp => new RegExp(`^${documented.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

const fuzzed = await fuzz()

t.test('the gateway answers requests made of its document as the document says', async (t) => {
  t.ok(fuzzed.isClean, fuzzed.output.slice(fuzzed.output.lastIndexOf('= FAILURES =')))
  t.ok(fuzzed.entries.length > 1_000, `${fuzzed.entries.length} requests`)
})

t.test('the gateway never fails over requests made of its document', async (t) => {
  t.strictSame(
    fuzzed.entries
      .filter(({ response }) => response.status >= 500)
      .map(({ request, response }) => `${response.status} ${request.method} ${request.url}`),
    [],
  )
  const failures = stage.gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":50'))
  t.strictSame(failures, [])
})

/** Only an operator can do these, and none runs here: test/integration/api-gateway/deliveries.test.ts has one. */
const NEEDS_OPERATOR = ['testWebhook', 'getDelivery', 'redeliver']

/** What the run itself reads first, and asks for no more. */
const READ_FIRST = 'getOpenApiDocument'

for (const operation of routes.filter(({ id }) => !NEEDS_OPERATOR.includes(id) && id !== READ_FIRST)) {
  t.test(`requests made of the document reach what ${operation.id} does, and are refused by it`, async (t) => {
    const pattern = toPattern(pathOf(operation))
    const isExact = (path: string) => routes.every((other) => other.path === operation.path || pathOf(other) !== path)
    const statuses = fuzzed.entries
      .map(({ request, response }) => ({ method: request.method.toLowerCase(), path: new URL(request.url).pathname, ...response }))
      .filter(({ method, path }) => method === operation.method && pattern.test(path) && isExact(path))
      .map(({ status }) => status)
    t.ok(
      statuses.some((status) => status < 400),
      `accepted: ${statuses.join(' ')}`,
    )
    if (operation.scope !== undefined) t.ok(statuses.includes(401), 'refused without a key')
  })
}
