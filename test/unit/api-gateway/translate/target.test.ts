import t from 'tap'
import { evaluateTarget } from '../../../../api-gateway/src/translate/target.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../crds/src/address-rules.ts'

const rules = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }

const accepted = [
  ['https://example.com', 'https://example.com'],
  ['HTTPS://Example.com/A', 'https://Example.com/A'],
  ['http://example.com:8080/a b?c#d', 'http://example.com:8080/a b?c#d'],
  ['https://example.com/@name', 'https://example.com/@name'],
  ['http://page.sites.svc.cluster.local/', 'http://page.sites.svc.cluster.local/'],
  ['https://münchen.example/', 'https://münchen.example/'],
  ['http://93.184.216.34/', 'http://93.184.216.34/'],
] as const
for (const [text, url] of accepted)
  t.test(`evaluateTarget accepts ${text}`, async (t) => t.strictSame(evaluateTarget(text, rules), { url }))

const refused = [
  ['', 'invalid_url'],
  ['example.com', 'invalid_url'],
  [' https://example.com', 'invalid_url'],
  ['https://exam ple.com/', 'invalid_url'],
  ['https://example.com/\nHost: x', 'invalid_url'],
  ['https://example.com:99999/', 'invalid_url'],
  ['https:example.com', 'host_required'],
  ['https://', 'host_required'],
  ['https:///path', 'host_required'],
  ['https://:80/', 'host_required'],
  ['about:blank', 'unsupported_scheme'],
  ['data:text/html,x', 'unsupported_scheme'],
  ['https://user@example.com/', 'credentials_in_url'],
  ['https://user:pass@example.com/', 'credentials_in_url'],
  [`https://example.com/${'a'.repeat(8173)}`, 'too_big'],
  ['http://127.0.0.1/', 'url_not_allowed'],
  ['http://127.1/', 'url_not_allowed'],
  ['http://2130706433/', 'url_not_allowed'],
  ['http://[::1]/', 'url_not_allowed'],
  ['http://[::ffff:10.0.0.1]/', 'url_not_allowed'],
  ['http://localhost/', 'url_not_allowed'],
  ['http://a.LOCALHOST/', 'url_not_allowed'],
  ['https://example.com:22/', 'url_not_allowed'],
] as const
for (const [text, code] of refused) {
  t.test(`evaluateTarget refuses ${JSON.stringify(text.slice(0, 40))} as ${code}`, async (t) => {
    t.match(evaluateTarget(text, rules), { problem: { code, message: /./ } })
  })
}

t.test('evaluateTarget opens what the rules open', async (t) => {
  const open = { ...rules, allowedCidrs: ['10.1.0.0/16'], allowedPorts: [81] }
  t.strictSame(evaluateTarget('http://10.1.2.3:81/', open), { url: 'http://10.1.2.3:81/' })
  t.match(evaluateTarget('http://10.2.2.3/', open), { problem: { code: 'url_not_allowed' } })
})

t.test('evaluateTarget refuses internal names where names are listed', async (t) => {
  const listed = { ...rules, allowedHosts: ['*.sites.svc.cluster.local'] }
  t.strictSame(evaluateTarget('http://a.sites.svc.cluster.local/', listed), { url: 'http://a.sites.svc.cluster.local/' })
  t.match(evaluateTarget('http://kubernetes.default.svc/', listed), { problem: { code: 'url_not_allowed' } })
})
