import { copyFile, readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { pathOf } from '../../../api-gateway/src/openapi/document.ts'
import { routes } from '../../../api-gateway/src/resources/all.ts'
import { CommandError, run } from '../../cluster/host/exec.ts'
import { ensurePythonTools, locatePythonTools } from '../../fuzz/python-tools.ts'
import { assertEvery, assertSome } from '../../support/accepts.ts'
import { createDirectory } from '../../support/directory.ts'
import { isFullLength } from '../../support/length.ts'
import { startStage } from './stage.ts'

// Valid and invalid requests generated from the OpenAPI document, single and in chains along its links, against a real gateway. The run has
// a fixed seed and a limited number of examples. The short form sends fewer random requests and chains, for fewer capture options, and does not try
// each bound of each field.

const TIMEOUT_MILLISECONDS = 540_000
const SHORT_FORM = ['--phases=examples,fuzzing,stateful', '--max-examples=8']

await ensurePythonTools()
const source = path.join(import.meta.dirname, '../../fuzz')
const stage = await startStage()
t.teardown(() => stage.stop())
const directory = await createDirectory(t, 'fuzz')

interface Entry {
  request: { method: string; url: string }
  response: { status: number }
}

interface Run {
  isClean: boolean
  output: string
  entries: Entry[]
}

/** Runs schemathesis in a separate directory, where it may leave files. */
async function fuzz(): Promise<Run> {
  for (const file of ['hooks.py', 'schemathesis.toml']) await copyFile(path.join(source, file), path.join(directory, file))
  const report = path.join(directory, 'run.har')
  const args = [
    'run',
    `${stage.gateway.url}/api/v1/openapi.json`,
    '--checks=all',
    '--report=har',
    `--report-har-path=${report}`,
    ...(isFullLength ? [] : SHORT_FORM),
  ]
  const environment = {
    FUZZ_KEY: stage.key,
    FUZZ_KEY_ID: stage.keyId,
    FUZZ_FILE: stage.file,
    FUZZ_IDS: JSON.stringify(stage.ids),
    FUZZ_SHARE: isFullLength ? '10' : '40',
    NO_COLOR: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  }
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

/** Undefined if the run did not finish: its output contains the reason. */
async function readEntries(report: string): Promise<Entry[]> {
  try {
    return (JSON.parse(await readFile(report, 'utf8')) as { log: { entries: Entry[] } }).log.entries
  } catch {
    return []
  }
}

/** `/api/v1/keys/{id}/rotate` as a regular expression for paths. */
const toPattern = (documented: string): RegExp => new RegExp(`^${documented.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

const fuzzed = await fuzz()

t.test('the gateway responds to generated requests as its document says', async (t) => {
  t.ok(fuzzed.isClean, fuzzed.output.slice(fuzzed.output.lastIndexOf('= FAILURES =')))
  t.ok(fuzzed.entries.length > (isFullLength ? 1_000 : 500), `${fuzzed.entries.length} requests`)
})

t.test('the gateway never returns 5xx for generated requests', async (t) => {
  assertEvery(t, fuzzed.entries, ({ response }) => response.status < 500)
  const failures = stage.gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":50'))
  t.strictSame(failures, [])
})

/** These operations need an operator, and none runs here. test/integration/api-gateway/deliveries.test.ts tests them. */
const NEEDS_OPERATOR = ['testWebhook', 'getDelivery', 'redeliver']

/** Documents that the run itself reads at its start. */
const READ_FIRST = 'getOpenApiDocument'

for (const operation of routes.filter(({ id }) => !NEEDS_OPERATOR.includes(id) && id !== READ_FIRST)) {
  t.test(`requests made of the document reach what ${operation.id} does, and are refused by it`, async (t) => {
    const pattern = toPattern(pathOf(operation))
    const isExact = (path: string) => routes.every((other) => other.path === operation.path || pathOf(other) !== path)
    const statuses = fuzzed.entries
      .map(({ request, response }) => ({ method: request.method.toLowerCase(), path: new URL(request.url).pathname, ...response }))
      .filter(({ method, path }) => method === operation.method && pattern.test(path) && isExact(path))
      .map(({ status }) => status)
    assertSome(t, statuses, (status) => status < 400, `accepted: ${statuses.join(' ')}`)
    if (operation.scope !== undefined) t.ok(statuses.includes(401), 'rejected without a key')
  })
}
