import t from 'tap'
import {
  classifyAddress,
  classifyHost,
  classifyPort,
  classifyUrl,
  DEFAULT_EGRESS_RULES,
  type EgressRules,
  isAllowedHost,
  isCidr,
  isWithin,
  toCanonicalHost,
  toPlainAddress,
} from '../../../../crds/src/addresses/address-rules.ts'
import { assertAccepts, assertEvery } from '../../../support/accepts.ts'
import { LITERAL_ATTACKS, NAME_ATTACKS } from '../../../support/attack/attack-list.ts'

const rules = (given: Partial<EgressRules> = {}): EgressRules => ({ ...DEFAULT_EGRESS_RULES, ...given })
const allowed = { allowed: true }
const isAllowedUrl = (url: string, given: Partial<EgressRules> = {}): boolean => classifyUrl(url, rules(given)).allowed

t.test('classifyUrl refuses every spelling of a private IP address, and allows it if its range is allowed', async (t) => {
  t.ok(LITERAL_ATTACKS.length >= 60)
  const isOpen = (host: string, given: Partial<EgressRules>) => isAllowedUrl(`http://${host}/`, given)
  const reasonOf = (host: string) => {
    const decision = classifyUrl(`http://${host}/`, rules())
    return decision.allowed ? 'allowed' : decision.reason
  }
  assertEvery(t, LITERAL_ATTACKS, ({ host, means }) => reasonOf(host).includes(`${means} is `), 'the reason names the address')
  assertEvery(t, LITERAL_ATTACKS, ({ host, opens }) => isOpen(host, { allowedCidrs: opens }), 'each passes once its range is opened')
  assertEvery(t, LITERAL_ATTACKS, ({ host, means }) => !isOpen(host, { allowedHosts: ['*', means, host] }), 'a host pattern opens none')
  assertEvery(t, LITERAL_ATTACKS, ({ host }) => !isOpen(host, { allowedCidrs: ['0.0.0.0/0', '::/0'] }), 'nor does the range of all')
})

t.test('classifyUrl refuses every internal name, and allows it if the name is in allowedHosts', async (t) => {
  const isOpen = (host: string, ...allowedHosts: string[]) => isAllowedUrl(`https://${host}/`, { allowedHosts })
  assertEvery(t, NAME_ATTACKS, ({ host }) => !isOpen(host) && !isOpen(host, '*.example.org'), 'also beside another entry')
  assertEvery(t, NAME_ATTACKS, ({ host, opens }) => isOpen(host, opens), 'each passes once it is listed')
})

t.test('classifyUrl allows public names and IP addresses in any spelling', async (t) => {
  const names = ['http://example.com/', 'https://example.com:8443/a?b#c', 'https://bücher.example.com/', 'https://a_b.example.com/']
  const similar = ['https://notlocalhost.com/', 'https://internal.example.com/', 'https://svc.example.com/']
  const dotted = ['http://93.184.215.14/', 'http://1572395790/', 'http://172.32.0.1/', 'http://100.128.0.1/']
  const inBrackets = ['http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/', 'http://[::ffff:93.184.215.14]/']
  assertEvery(t, [...names, ...similar, ...dotted, ...inBrackets], (url) => isAllowedUrl(url))
})

t.test('classifyUrl refuses invalid URLs and other schemes', async (t) => {
  const cases: [string, string][] = [
    ['file:///etc/passwd', 'the scheme file is neither http nor https'],
    ['ftp://example.com/', 'the scheme ftp is neither http nor https'],
    ['view-source:http://example.com/', 'the scheme view-source is neither http nor https'],
    ['data:text/html,a', 'the scheme data is neither http nor https'],
    ['javascript:alert(1)', 'the scheme javascript is neither http nor https'],
    ['example.com', 'the text is not a URL'],
    ['http://256.1.1.1/', 'the text is not a URL'],
    ['http://1.2.3.4.5/', 'the text is not a URL'],
    ['http://[fe80::1%25eth0]/', 'the text is not a URL'],
    ['http://a..b/', 'a..b is not a host name'],
    [`http://${'a'.repeat(64)}.com/`, `${'a'.repeat(64)}.com is not a host name`],
    ['http://example.com:22/', 'port 22 is not open'],
    ['http://example.com:0/', '0 is not a port'],
  ]
  for (const [url, reason] of cases) t.strictSame(classifyUrl(url, rules()), { allowed: false, reason }, url)
})

t.test('classifyAddress allows private networks for an allowed name, but not loopback, metadata or the pod itself', async (t) => {
  const context = { hostAllowed: true, ownAddresses: ['10.1.2.3', 'fd00::3', 'fe80::1%eth0'] }
  const closed = rules({ deniedCidrs: ['10.0.0.0/8', '169.254.0.0/16', '35.0.0.0/8'] })
  const open = ['10.0.0.1', '35.1.1.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1', '::ffff:10.0.0.1', '8.8.8.8']
  const local = ['127.0.0.1', '::1', '0.0.0.0', '::', 'fe80::2', '224.0.0.1', '::ffff:127.0.0.1', '64:ff9b::a00:1']
  const metadata = ['169.254.169.254', '100.100.100.200', 'fd00:ec2::254', '168.63.129.16']
  const own = ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::3']
  assertAccepts(t, (address) => classifyAddress(address, closed, context).allowed, open, [...local, ...metadata, ...own])
  t.strictSame(classifyAddress('10.1.2.3', closed, { hostAllowed: true }), allowed, 'an address is closed as the own one only where it is')
})

/** IPv6 forms of an IPv4 address: the range that opens them, if they are closed, and the spelling of 93.184.215.14 and of 10.0.0.1. */
const FORMS: { form: string; range?: string; outside: string; inside: string }[] = [
  { form: 'IPv4-compatible, dotted', range: '::/96', outside: '::93.184.215.14', inside: '::10.0.0.1' },
  { form: 'IPv4-compatible', range: '::/96', outside: '::5db8:d70e', inside: '::a00:1' },
  { form: 'IPv4-compatible, whole', range: '::/96', outside: '0:0:0:0:0:0:93.184.215.14', inside: '0:0:0:0:0:0:10.0.0.1' },
  { form: 'IPv4-mapped, dotted', outside: '::ffff:93.184.215.14', inside: '::ffff:10.0.0.1' },
  { form: 'IPv4-mapped', outside: '::ffff:5db8:d70e', inside: '::ffff:a00:1' },
  { form: 'IPv4-translated, dotted', range: '::ffff:0:0:0/96', outside: '::ffff:0:93.184.215.14', inside: '::ffff:0:10.0.0.1' },
  { form: 'IPv4-translated', range: '::ffff:0:0:0/96', outside: '::ffff:0:5db8:d70e', inside: '::ffff:0:a00:1' },
  { form: 'NAT64, dotted', range: '64:ff9b::/96', outside: '64:ff9b::93.184.215.14', inside: '64:ff9b::10.0.0.1' },
  { form: 'NAT64', range: '64:ff9b::/96', outside: '64:ff9b::5db8:d70e', inside: '64:ff9b::a00:1' },
  { form: 'local NAT64', range: '64:ff9b:1::/48', outside: '64:ff9b:1:fffe::5db8:d70e', inside: '64:ff9b:1:fffe::a00:1' },
  { form: '6to4', range: '2002::/16', outside: '2002:5db8:d70e::1', inside: '2002:a00:1::1' },
  { form: 'Teredo', range: '2001::/32', outside: '2001:0:5db8:d70e:0:0:a247:28f1', inside: '2001:0:5db8:d70e:0:0:f5ff:fffe' },
  { form: 'Teredo server', range: '2001::/32', outside: '2001:0:5db8:d70e:0:0:a247:28f1', inside: '2001:0:a00:1:0:0:a247:28f1' },
  { form: '6to4 around ISATAP', range: '2002::/16', outside: '2002:5db8:d70e::5efe:5db8:d70e', inside: '2002:a00:1::5efe:5db8:d70e' },
  { form: 'ISATAP', outside: '2606:4700::5efe:93.184.215.14', inside: '2606:4700::5efe:10.0.0.1' },
  { form: 'ISATAP, global', outside: '2606:4700::200:5efe:5db8:d70e', inside: '2606:4700::200:5efe:a00:1' },
]
for (const { form, range, outside, inside } of FORMS) {
  t.test(`classifyAddress evaluates the IPv4 address in an address with the form ${form}`, async (t) => {
    const opened = range === undefined ? [] : [range]
    const isAllowed = (address: string, ...allowedCidrs: string[]) => classifyAddress(address, rules({ allowedCidrs })).allowed
    const isOpen = range === undefined
    t.equal(isAllowed(outside), isOpen, 'by default')
    t.equal(isAllowed(outside, ...opened), true, 'with its range')
    t.equal(isAllowed(inside, ...opened), false, 'a private address with the range of the form')
    t.equal(isAllowed(inside, ...opened, '10.0.0.0/8'), true, 'a private address with both ranges')
    t.equal(isAllowed(inside, '10.0.0.0/8'), isOpen, 'a private address with its range')
    t.equal(classifyAddress(outside, rules(), { hostAllowed: true }).allowed, isOpen, 'for an allowed name')
    t.equal(classifyAddress(outside, rules({ allowedCidrs: opened }), { ownAddresses: ['93.184.215.14'] }).allowed, false, 'of the pod')
    t.equal(isAllowed(`${outside}%eth0`, ...opened), false, 'with a zone')
  })
}

t.test('classifyAddress refuses site-local addresses, and says which IPv4 address an IPv6 form contains', async (t) => {
  t.strictSame(classifyAddress('fec0::1', rules()), { allowed: false, reason: 'fec0::1 is a site-local address' })
  t.strictSame(classifyAddress('2606:4700::5efe:10.0.0.1', rules()), {
    allowed: false,
    reason: '2606:4700::5efe:a00:1 is an IPv6 form of an IPv4 address: 10.0.0.1 is a private address',
  })
  t.strictSame(classifyAddress('::198.51.100.10', rules()), { allowed: false, reason: '::c633:640a is an IPv4-compatible address' })
})

t.test('classifyAddress uses the smaller of two ranges', async (t) => {
  const cases: { allow: string[]; deny: string[]; address: string; passes: boolean }[] = [
    { allow: ['10.96.0.50/32'], deny: ['10.96.0.0/12'], address: '10.96.0.50', passes: true },
    { allow: ['10.96.0.50/32'], deny: ['10.96.0.0/12'], address: '10.96.0.51', passes: false },
    { allow: ['10.0.0.0/8'], deny: ['10.96.0.0/12'], address: '10.96.0.50', passes: false },
    { allow: ['10.0.0.0/8'], deny: ['10.96.0.0/12'], address: '10.1.0.1', passes: true },
    { allow: ['10.0.0.0/8'], deny: ['10.0.0.0/8'], address: '10.1.0.1', passes: false },
    { allow: [], deny: ['8.8.0.0/16'], address: '8.8.8.8', passes: false },
    { allow: [], deny: ['8.8.0.0/16'], address: '8.9.8.8', passes: true },
    { allow: [], deny: ['::ffff:8.8.0.0/112'], address: '8.8.8.8', passes: false },
    { allow: [], deny: ['::8.8.0.0/112'], address: '8.8.8.8', passes: true },
    { allow: ['::10.0.0.0/104'], deny: [], address: '10.0.0.1', passes: false },
    { allow: ['100.64.0.0/10'], deny: [], address: '100.100.100.200', passes: false },
    { allow: ['64:ff9b::/96'], deny: [], address: '64:ff9b::808:808', passes: true },
    { allow: ['64:ff9b::/96'], deny: [], address: '64:ff9b::7f00:1', passes: false },
    { allow: ['2002::/16'], deny: [], address: '2002:7f00:1::1', passes: false },
  ]
  for (const { allow, deny, address, passes } of cases) {
    const { allowed } = classifyAddress(address, rules({ allowedCidrs: allow, deniedCidrs: deny }))
    t.equal(allowed, passes, `${address}, allowed ${allow}, denied ${deny}`)
  }
})

t.test('classifyAddress refuses the pod’s own IP address even in an allowed range', async (t) => {
  const verdict = classifyAddress('10.1.2.3', rules({ allowedCidrs: ['10.1.2.3/32'] }), { ownAddresses: ['10.1.2.3'] })
  t.strictSame(verdict, { allowed: false, reason: '10.1.2.3 is the IP address of the requesting pod' })
})

t.test('classifyAddress refuses texts other than canonical IP addresses', async (t) => {
  const spellings = ['127.1', '0x7f.1', '010.0.0.1', '2130706433', '[::1]']
  const texts = [...spellings, '', 'example.com', '1.2.3.4%eth0', '2606:4700::1%eth0', '1.2.3.4/32']
  for (const text of texts) t.strictSame(classifyAddress(text, rules()), { allowed: false, reason: `${text} is not an IP address` })
})

t.test('classifyAddress throws if a rule is not a CIDR', async (t) => {
  t.throws(() => classifyAddress('8.8.8.8', rules({ deniedCidrs: ['10.0.0.0'] })))
  t.throws(() => classifyAddress('8.8.8.8', rules({ deniedCidrs: ['ten'] })))
})

t.test('classifyHost parses a host as a browser does, and refuses invalid hosts', async (t) => {
  const otherParts = ['a b.com', 'a/b.com', 'a@b.com', 'a.com:80', 'a#.com', 'a?.com', 'a\\b', '%31.com']
  const invalid = ['', ' ', '[::1', '1.2.3.4.5', 'x'.repeat(254), '::1', 'fe80::1%eth0']
  assertAccepts(t, (host) => classifyHost(host, rules()).allowed, ['2606:4700::1', 'Example.COM'], [...otherParts, ...invalid])
})

t.test('toCanonicalHost returns the host in the spelling of URLs', async (t) => {
  const names = { 'EXAMPLE.com': 'example.com', 'bücher.example': 'xn--bcher-kva.example' }
  const addresses = { '0x7f.1': '127.0.0.1', '[0:0::1]': '::1', '::FFFF:1.2.3.4': '::ffff:102:304' }
  for (const [host, canonical] of Object.entries({ ...names, ...addresses })) t.equal(toCanonicalHost(host), canonical)
  for (const host of ['a:80', '[::1]:8080']) t.equal(toCanonicalHost(host), undefined, host)
})

t.test('isAllowedHost matches whole labels', async (t) => {
  const cases: [string, string, boolean][] = [
    ['*.sites.svc.cluster.local', 'a.sites.svc.cluster.local', true],
    ['*.sites.svc.cluster.local', 'a.b.sites.svc.cluster.local', true],
    ['*.sites.svc.cluster.local', 'a.sites.svc.cluster.local.', true],
    ['*.sites.svc.cluster.local', 'sites.svc.cluster.local', false],
    ['*.sites.svc.cluster.local', '.sites.svc.cluster.local', false],
    ['*.sites.svc.cluster.local', 'evilsites.svc.cluster.local', false],
    ['*.sites.svc.cluster.local', 'a.sites.svc.cluster.local.evil.com', false],
    ['*.Sites.SVC', 'a.sites.svc', true],
    ['a.internal', 'a.internal', true],
    ['a.internal', 'b.a.internal', false],
    ['a.internal', 'aainternal', false],
    ['*', 'anything.at.all', true],
    ['*', '10.0.0.1', false],
    ['10.0.0.1', '10.0.0.1', false],
    ['*.1', '10.0.0.1', false],
    ['*.bücher.example', 'a.xn--bcher-kva.example', true],
    ['*.Köln.example', 'xn--kln-sna.example', false],
    ['straße.example', 'xn--strae-oqa.example', true],
    ['straße.example', 'strasse.example', false],
    ['bü*.example', 'xn--b-xga.example', false],
  ]
  for (const [pattern, host, matches] of cases)
    t.equal(isAllowedHost(host, rules({ allowedHosts: [pattern] })), matches, `${pattern} for ${host}`)
})

t.test('classifyPort allows 80, 443, ports from 1024 and the ports of the rules', async (t) => {
  const open = [80, 443, 1024, 8080, 65_535]
  const low = [1, 22, 25, 79, 81, 1023]
  const never = [0, -1, 65_536, 1.5, Number.NaN]
  assertAccepts(t, (port) => classifyPort(port, rules()).allowed, open, [...low, ...never])
  assertAccepts(t, (port) => classifyPort(port, rules({ allowedPorts: [port] })).allowed, [...open, ...low], never)
  t.strictSame(classifyPort(22, rules()), { allowed: false, reason: 'port 22 is not open' })
})

t.test('isCidr accepts CIDRs only', async (t) => {
  assertAccepts(t, isCidr, ['10.0.0.0/8', '::/0', '1.2.3.4/32'], ['10.0.0.0', '10.0.0.0/33', 'a/8', '', '/8'])
})

t.test('toPlainAddress returns the same text for all spellings of an IP address', async (t) => {
  t.equal(toPlainAddress('::ffff:10.0.0.1'), '10.0.0.1')
  t.equal(toPlainAddress('FD00:0:0::0001'), 'fd00::1')
  t.equal(toPlainAddress('::198.51.100.10'), '::c633:640a', 'an IPv4-compatible address is not an IPv4 address')
  t.equal(toPlainAddress('64:ff9b::198.51.100.10'), '64:ff9b::c633:640a')
  t.equal(toPlainAddress('10.1'), undefined)
})

t.test('isWithin compares an IP address with ranges of its own family', async (t) => {
  t.ok(isWithin('10.1.2.3', ['192.168.0.0/16', '10.0.0.0/8']))
  t.ok(isWithin('::ffff:10.1.2.3', ['10.0.0.0/8']))
  t.notOk(isWithin('::10.1.2.3', ['10.0.0.0/8']))
  t.notOk(isWithin('11.1.2.3', ['10.0.0.0/8', '::/0']))
  t.notOk(isWithin('example.com', ['0.0.0.0/0', '::/0']))
})
