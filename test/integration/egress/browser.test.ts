import type { Browser } from 'playwright'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import type { EgressSession } from '../../../capture-runner/src/egress/session.ts'
import { type Jail, openJail } from '../../../capture-runner/src/jail/jail.ts'
import { DEFAULT_EGRESS_RULES, type EgressRules } from '../../../crds/src/addresses/address-rules.ts'
import { assertEvery, assertSome } from '../../support/accepts.ts'
import { type Arrival, attackPage, createAttackSite, listenForArrivals, NAVIGATIONS, PAGE_WAYS } from '../../support/attack/attack-site.ts'
import { choose } from '../../support/length.ts'
import { enterNamespace } from '../../support/processes/in-namespace.ts'
import { inTurns, type QueryType, startDnsServer } from '../../support/servers/dns-server.ts'
import { launchBrowser, PROGRAMS } from './jail-probes.ts'

const PUBLIC = '93.184.215.14'
const POD = '10.9.9.9'

enterNamespace(import.meta.filename, [PUBLIC, POD, '10.1.2.3', '169.254.169.254', '100.100.100.200', 'fd00::1'])
const { default: t } = await import('tap')
t.setTimeout(300_000)

const zone: Record<string, (type: QueryType | undefined) => string> = {
  'public.example': () => PUBLIC,
  localhost: () => '127.0.0.1',
  'private.example': () => '10.1.2.3',
  'rebinding.example': inTurns(PUBLIC, '10.1.2.3'),
}
const dns = await startDnsServer((name, type) => {
  const address = zone[name]?.(type)
  return address === undefined ? undefined : { addresses: [address] }
})

/** A page waits this long for responses that a jail or a guard prevents. */
const PATIENCE_MILLISECONDS = 1_000
const site = createAttackSite(PATIENCE_MILLISECONDS)
const arrivals: Arrival[] = []
const closeSite = await listenForArrivals(
  '::',
  (arrival) => arrivals.push(arrival),
  (request, response) => {
    const isSite = request.socket.localAddress?.endsWith(PUBLIC) && /^\/(?:go\/|attack\?|ran$)/.test(request.url ?? '')
    if (isSite) site(request, response)
    return isSite === true
  },
)
const methodOf = ({ path }: Arrival): string | undefined => /\w+/.exec(path)?.[0]
const guard = createGuard({ dnsServers: [dns.address], connectTimeoutMilliseconds: 2_000, ownAddresses: [POD] })
const unguarded = createGuard({ dnsServers: [dns.address], connectTimeoutMilliseconds: 2_000, ownAddresses: [] })
const jail = await openJail({ programsDirectory: PROGRAMS })

const jailed = await launchBrowser(jail)
const fenced = await launchBrowser()
t.teardown(async () => {
  await jailed.close()
  await fenced.close()
  await jail.close()
  dns.close()
  closeSite()
})

interface Attack {
  target: string
  opens: Partial<EgressRules>
  /** Another spelling or range. Unit tests of the address rules, and test/e2e/attacks.test.ts have it, too. */
  isLong?: true
}
const ATTACKS: readonly Attack[] = [
  { target: '127.0.0.1', opens: { allowedCidrs: ['127.0.0.0/8'] } },
  { target: '0x7f.1', opens: { allowedCidrs: ['127.0.0.0/8'] }, isLong: true },
  { target: '[::1]', opens: { allowedCidrs: ['::1/128'] } },
  { target: 'localhost', opens: { allowedHosts: ['localhost'], allowedCidrs: ['127.0.0.0/8', '::1/128'] }, isLong: true },
  { target: '169.254.169.254', opens: { allowedCidrs: ['169.254.169.254/32'] } },
  { target: '2852039166', opens: { allowedCidrs: ['169.254.169.254/32'] }, isLong: true },
  { target: '100.100.100.200', opens: { allowedCidrs: ['100.100.100.200/32'] }, isLong: true },
  { target: '10.1.2.3', opens: { allowedCidrs: ['10.0.0.0/8'] } },
  { target: '[::ffff:10.1.2.3]', opens: { allowedCidrs: ['10.0.0.0/8'] }, isLong: true },
  { target: '[fd00::1]', opens: { allowedCidrs: ['fc00::/7'] }, isLong: true },
  { target: POD, opens: { allowedCidrs: ['10.0.0.0/8'] } },
  { target: 'private.example', opens: { allowedCidrs: ['10.0.0.0/8'] } },
]
const attacks = choose(ATTACKS, ({ isLong }) => !isLong)

/** Loads the attacking page, then navigates by each method. Returns what arrived. */
const run = async (browser: Browser, session: EgressSession, target: string): Promise<Arrival[]> => {
  arrivals.length = 0
  const context = await browser.newContext({ proxy: { server: session.proxyUrl } })
  const page = await context.newPage()
  await page.goto(`http://public.example/attack?at=${encodeURIComponent(target)}`, { waitUntil: 'commit' })
  await page.waitForSelector('#done')
  for (const method of NAVIGATIONS) {
    const next = await context.newPage()
    const to = `http://${target}/${method}`
    const url = method === 'direct' ? to : `http://public.example/go/${method}?to=${encodeURIComponent(to)}`
    const left = new Promise<void>((resolve) => {
      next.on('requestfailed', () => resolve())
      next.on('response', (response) => response.url().startsWith('http://public.example/') || resolve())
    })
    await next.goto(url).catch(() => {})
    if (method === 'link') await next.click('a')
    await left
  }
  await context.close()
  session.close()
  return [...arrivals]
}

const openSession = async (rules: Partial<EgressRules>, isOpened: boolean, given: Jail | undefined): Promise<EgressSession> => {
  const session = await (isOpened ? unguarded : guard).openSession(given?.openListener)
  session.arm({ rules: { ...DEFAULT_EGRESS_RULES, ...rules }, maxBytes: 1e8 })
  return session
}

for (const { name, browser, given, targets, wanted } of [
  // In the jail, WebRTC finds no network interface and does not try.
  { name: 'jailed', browser: jailed, given: jail, targets: attacks, wanted: [...PAGE_WAYS, ...NAVIGATIONS] },
  {
    name: 'protected by flags alone',
    browser: fenced,
    given: undefined,
    targets: attacks.filter(({ target }) => target === '[::1]' || target === '10.1.2.3'),
    wanted: [...PAGE_WAYS, ...NAVIGATIONS, 'tcp'],
  },
]) {
  for (const { target, opens } of targets) {
    t.test(`A page in a browser ${name} does not reach ${target}`, async (t) => {
      const opened = await run(browser, await openSession(opens, true, given), target)
      const arrived = opened.map(methodOf)
      assertEvery(t, wanted, (method) => arrived.includes(method), 'allowed: requests of all methods arrive')
      t.notOk(arrived.includes('udp'), 'nothing arrives over UDP')
      const session = await openSession({ allowedHosts: ['public.example'] }, false, given)
      t.strictSame(await run(browser, session, target), [], 'denied: no request arrives')
      t.ok(session.requestLog.entries.filter(({ decision }) => decision === 'refused').length >= 10)
    })
  }
}

t.test('A page cannot reach a private address by DNS rebinding', async (t) => {
  const session = await openSession({}, false, jail)
  const arrived = await run(jailed, session, 'rebinding.example')
  t.notOk(arrived.some(({ address }) => address !== PUBLIC))
  assertSome(
    t,
    session.requestLog.entries,
    ({ host, decision }) => host === 'rebinding.example' && decision === 'refused',
    'the private address was resolved',
  )
  const opened = await run(jailed, await openSession({ allowedCidrs: ['10.0.0.0/8'] }, true, jail), 'rebinding.example')
  assertSome(t, opened, ({ address }) => address === '10.1.2.3', 'the control')
})

/** Without a proxy, Chromium itself blocks private addresses for public pages. A compromised browser would skip that check. */
const WITHOUT_OWN_CHECKS = ['--disable-features=LocalNetworkAccessChecks']

/** Runs the attacking page in a browser without proxy and flags. If the page is unreachable, its HTML is set instead. */
const runBare = async (browser: Browser): Promise<(string | undefined)[]> => {
  arrivals.length = 0
  let page = await browser.newPage()
  if (!(await page.goto(`http://${PUBLIC}/attack?at=10.1.2.3`).catch(() => undefined))) {
    page = await browser.newPage() // the first one still navigates to its error page
    await page.setContent(attackPage(['10.1.2.3'], PATIENCE_MILLISECONDS), { waitUntil: 'commit' })
  }
  await page.waitForSelector('#done')
  await browser.close()
  return arrivals.map(methodOf)
}

t.test('The jail alone blocks a browser that has lost its flags', async (t) => {
  const free = await runBare(await launchBrowser(undefined, WITHOUT_OWN_CHECKS))
  assertEvery(t, [...PAGE_WAYS, 'udp', 'tcp'], (method) => free.includes(method), 'without the jail: requests of all methods arrive')
  const own = await openJail({ programsDirectory: PROGRAMS })
  t.strictSame(await runBare(await launchBrowser(own, WITHOUT_OWN_CHECKS)), [], 'with the jail: no request arrives')
  await own.close()
})
