import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { eventually } from '../../../support/eventually.ts'
import { aService, failing, runCli } from '../fake-world.ts'

// `kubectl tintype` with a kubectl that answers as a cluster with one release would.

const usage = {
  ...{ period: '2026-11', count: 1, limit: 2, percentage: 50, remaining: 1, reset_at: '2026-12-01T00:00:00.000Z', plan: 'free' },
  rate_limit_per_minute: null,
}

interface FakeKubectl {
  services?: string[]
  key?: string
  /** Shell code instead of the port-forward. */
  forward?: string
}

async function aKubectl(t: Tap, { services = ['acme-tintype'], key = 'first-key', forward }: FakeKubectl = {}) {
  const { url, authorizations } = await aService(t, {
    'GET /usage/current': { success: true, data: usage },
    'POST /screenshots': failing(429, 'USAGE_LIMIT_REACHED'),
  })
  const folder = t.testdir()
  const items = services.map((name) => ({ metadata: { name: `${name}-api-gateway` }, spec: { ports: [{ name: 'http', port: 80 }] } }))
  // The trap comes first: the program is ended as soon as its line is read.
  const trap = `trap "touch ${folder}/stopped; exit" TERM`
  const forwarding = `${trap}; echo "Forwarding from 127.0.0.1:${new URL(url).port} -> 8080"; while :; do sleep 0.1; done`
  const script = `#!/bin/sh
echo "$*" >> ${folder}/calls
case "$*" in
  *"get services"*) echo '${JSON.stringify({ items })}' ;;
  *"get secret acme-tintype-initial-api-key"*) printf %s '${Buffer.from(key).toString('base64')}' ;;
  *port-forward*) ${forward ?? forwarding} ;;
esac
`
  writeFileSync(path.join(folder, 'kubectl'), script, { mode: 0o755 })
  const calls = () => (existsSync(`${folder}/calls`) ? readFileSync(`${folder}/calls`, 'utf8') : '')
  const run = async (args: string[], more: Record<string, string> = {}) => {
    const result = await runCli(args, { environment: { PATH: `${folder}:${process.env.PATH}`, ...more }, isKubectlPlugin: true })
    // A program that has not ended yet writes into the folder while the test removes it.
    if (!forward && /port-forward/.test(calls())) await eventually('its port-forward ends', async () => existsSync(`${folder}/stopped`))
    return result
  }
  return { run, keys: authorizations, calls }
}
type Tap = { testdir: () => string; teardown: (work: () => void) => void }

t.test('kubectl tintype forwards a port to the gateway and uses the first key', async (t) => {
  const { run, keys, calls } = await aKubectl(t)
  const { code, stdout, stderr } = await run(['usage', '-n', 'shots'])
  t.equal(code, 0, stderr)
  t.match(stdout, /^used +1 of 2 units/m)
  t.strictSame(keys, ['Bearer first-key'])
  t.match(calls(), /^-n shots port-forward --address 127\.0\.0\.1 service\/acme-tintype-api-gateway :80$/m)
})

t.test('kubectl tintype prefers an API key and a URL that are set', async (t) => {
  const { run, keys, calls } = await aKubectl(t)
  await run(['usage'], { TINTYPE_API_KEY: 'own-key' })
  t.strictSame(keys, ['Bearer own-key'])
  t.notMatch(calls(), /get secret/)
  const other = await aKubectl(t)
  await other.run(['usage'], { TINTYPE_API_KEY: 'own-key', TINTYPE_URL: 'http://127.0.0.1:1' })
  t.equal(other.calls(), '')
})

t.test('kubectl tintype calls kubectl only for commands that call the service', async (t) => {
  const { run, calls } = await aKubectl(t)
  t.equal((await run(['version'])).code, 0)
  t.equal((await run(['config', 'list'])).code, 0)
  t.equal(calls(), '')
})

const problems: [name: string, kubectl: FakeKubectl, message: RegExp][] = [
  ['no release', { services: [] }, /the namespace tintype has no Tintype\. Name another one with --namespace/],
  ['several releases', { services: ['a', 'b'] }, /has several releases of Tintype\. Set TINTYPE_URL and TINTYPE_API_KEY/],
  ['a deleted Secret', { key: '' }, /the Secret acme-tintype-initial-api-key does not exist.*Set TINTYPE_API_KEY/],
  [
    'a refused port-forward',
    { forward: 'echo "error: forbidden" >&2; exit 1' },
    /kubectl port-forward failed: error: forbidden\. Or set TINTYPE_URL/,
  ],
]
for (const [name, kubectl, message] of problems) {
  t.test(`kubectl tintype explains ${name}`, async (t) => {
    const { run } = await aKubectl(t, kubectl)
    t.match(await run(['usage']), { code: 3, stderr: message })
  })
}

t.test('kubectl tintype explains that kubectl is missing or fails', async (t) => {
  const PATH = t.testdir()
  const usageWith = () => runCli(['usage'], { environment: { PATH }, isKubectlPlugin: true })
  t.match(await usageWith(), { code: 3, stderr: /kubectl is not installed/ })
  writeFileSync(`${PATH}/kubectl`, '#!/bin/sh\necho "Unable to connect to the server" >&2\nexit 1\n', { mode: 0o755 })
  t.match(await usageWith(), { code: 3, stderr: /kubectl failed: Unable to connect to the server\. Check your kubectl context/ })
})

t.test('kubectl tintype continues a batch although the forwarded port has changed', async (t) => {
  const folder = t.testdir()
  const shoot = async () => {
    // Each run has a service, and thereby a port, of its own. None of them captures anything.
    const { run } = await aKubectl({ testdir: () => mkdtempSync(path.join(folder, 'kubectl-')), teardown: (work) => t.teardown(work) })
    return run(['shot', 'a.example', 'b.example', '-o', path.join(folder, 'shots')])
  }
  t.match(await shoot(), { stderr: /0 of 2 pages are done/ })
  t.notMatch((await shoot()).stderr, /belongs to a batch with other options or another service/)
})
