import { readFileSync } from 'node:fs'
import { SandboxReport } from '@tintype/crds/dispatch/dispatch'
import t from 'tap'
import { repin } from '../../../capture-runner/lists/refresh.ts'
import { loadConfig } from '../../../capture-runner/src/config.ts'
import { describeProblems } from '../../../capture-runner/src/jail/probe-sandbox.ts'

const env = {
  TINTYPE_POD_NAME: 'default-1',
  TINTYPE_POD_UID: 'uid',
  TINTYPE_NAMESPACE: 'tintype',
  TINTYPE_DISPATCH_PUBLIC_KEY: '{"kty":"OKP","crv":"Ed25519","x":"abc"}',
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
}

t.test('loadConfig sets defaults', async (t) => {
  const config = loadConfig(env)
  t.match(config, {
    TINTYPE_PORT: 8080,
    TINTYPE_EGRESS: {},
    TINTYPE_SANDBOX_MODE: 'auto',
    TINTYPE_ISOLATION: 'context',
    TINTYPE_FRAME_CONTROL: true,
    TINTYPE_DISPATCH_PUBLIC_KEY: { crv: 'Ed25519' },
    KUBERNETES_SERVICE_PORT: '443',
  })
  t.equal(config.TINTYPE_MEMORY_LIMIT_BYTES, undefined)
  t.throws(() => Object.assign(config, { TINTYPE_PORT: 1 }))
})

t.test('loadConfig reads the environment of a pool', async (t) => {
  const egress = { allowedHosts: ['*.sites.svc.cluster.local'], allowedPorts: [81] }
  const config = loadConfig({
    ...env,
    TINTYPE_EGRESS: JSON.stringify(egress),
    TINTYPE_MEMORY_LIMIT_BYTES: '1610612736',
    TINTYPE_ISOLATION: 'browser',
  })
  t.match(config, { TINTYPE_EGRESS: egress, TINTYPE_MEMORY_LIMIT_BYTES: 1_610_612_736, TINTYPE_ISOLATION: 'browser' })
})

t.test('loadConfig reports all mistakes at once', async (t) => {
  const broken = {
    ...env,
    TINTYPE_POD_UID: '',
    TINTYPE_EGRESS: '{',
    TINTYPE_SANDBOX_MODE: 'perhaps',
    TINTYPE_DISPATCH_PUBLIC_KEY: '{"kty":"RSA"}',
  }
  for (const name of ['TINTYPE_POD_UID', 'TINTYPE_EGRESS', 'TINTYPE_SANDBOX_MODE', 'TINTYPE_DISPATCH_PUBLIC_KEY']) {
    t.throws(() => loadConfig(broken), { message: new RegExp(name) })
  }
})

t.test('the operator accepts the report of a runner with many problems of its isolation', async (t) => {
  const detail = describeProblems(Array.from({ length: 20 }, (_, n) => `attack ${n} failed: ${'x'.repeat(100)}`))
  t.match(detail, /^attack 0 failed/)
  t.ok(SandboxReport.safeParse({ chromiumSandbox: false, jail: false, detail }).success, `${detail.length} characters`)
  t.equal(describeProblems([]), 'jail and sandbox work')
})

const SOURCES = readFileSync(new URL('../../../capture-runner/lists/sources.ts', import.meta.url), 'utf8')

t.test('repin changes only the release', async (t) => {
  const text = repin(SOURCES, { version: '9.9.9', integrity: 'sha512-abc' })
  t.match(text, "version: '9.9.9'")
  t.match(text, "'sha512-abc'")
  t.equal(text.split('\n').length, SOURCES.split('\n').length)
  t.equal(repin(text, { version: '9.9.9', integrity: 'sha512-abc' }), text)
})
