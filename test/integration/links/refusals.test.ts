import t, { type Test } from 'tap'
import { toCanonicalQuery } from '../../../api-gateway/client/src/link/canonical.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { privateOptionNames } from '../../../crds/src/options/private.ts'
import { mapConcurrently } from '../../../crds/src/runtime/map-concurrently.ts'
import { toSnakeCase } from '../../../crds/src/text/snake-case.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { startWorld } from '../api-gateway/world.ts'
import { accountsOf, captures, endEach, outcomeOf, PAGE, type Signer, signed, snapshot, take } from './stage.ts'

// What links are refused, and what is written then: nothing. Two replicas share the API server and the store.

const world = await startWorld()
t.teardown(() => world.stop())
const [gateway, other] = [await world.startGateway(), await world.startGateway()] as const
const createAccount = accountsOf(world, gateway)
const acme = await createAccount('acme')
const { end } = captures(world)
const FAR = 'https://elsewhere.example/'
/** The page of this query redirects to another host. */
const REDIRECTING = 'url=https%3A%2F%2Fexample.com%2Fredirect'
const whenEnded = endEach(t, world, (shot) => end(shot, shot.spec.url.endsWith('/redirect') ? { finalUrl: FAR } : {}))

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds

/** Captures the page of a link, so that a refusal is not caused by the capture. */
async function capture(query: string): Promise<void> {
  const response = await take(gateway, query)
  if (response.status !== 200) throw new Error(`not captured: ${outcomeOf(response)}`)
  await whenEnded()
}

/** Requests a link until both replicas respond as expected, and compares what is stored before and after. */
async function refuses(t: Test, name: string, query: string, expected: string): Promise<void> {
  const before = await snapshot(world)
  for (const replica of [gateway, other]) {
    await eventually(name, async () => outcomeOf(await take(replica, query)) === expected, 10_000).catch(() => {})
    t.equal(outcomeOf(await take(replica, query)), expected, name)
  }
  t.strictSame(await snapshot(world), before, `${name}: nothing is written`)
}

await capture(await acme.sign(PAGE))

t.test('a link with any changed character is refused, or means the same', async (t) => {
  const link = await acme.sign(`${PAGE}&viewport_width=1200&full_page=true&expires=${inSeconds(3_600)}&utm_source=mail`)
  await capture(link)
  const replacements = ['x', 'A', '0', '2', '%', '&', '=', '+', '.']
  const flip = (character: string) => (character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase())
  const changed = [...link].flatMap((character, index) =>
    [...replacements, flip(character)]
      .filter((replacement) => replacement !== character)
      .map((replacement) => link.slice(0, index) + replacement + link.slice(index + 1)),
  )
  const signaturesOf = (query: string) => new URLSearchParams(query).getAll('signature').join(' ')
  const isEqual = (query: string) => toCanonicalQuery(query) === toCanonicalQuery(link) && signaturesOf(query) === signaturesOf(link)
  const before = await snapshot(world)
  const outcomes = await mapConcurrently(changed, 40, async (query, index) => ({
    query,
    outcome: outcomeOf(await take(index % 2 === 0 ? gateway : other, query)),
  }))
  const refusals = ['400 VALIDATION_ERROR', '401 INVALID_API_KEY', '401 UNAUTHORIZED', '403 LINK_INVALID']
  const wrong = outcomes.filter(({ query, outcome }) => (isEqual(query) ? outcome !== '200' : !refusals.includes(outcome)))
  t.strictSame(wrong, [])
  const seen = new Set(outcomes.map(({ outcome }) => outcome))
  t.strictSame([...seen].sort(), ['200', ...refusals], 'control: each of them occurs')
  t.strictSame(await snapshot(world), before, 'nothing is written')
})

t.test('a link that is expired, not signed, or signed for something else is refused', async (t) => {
  const stranger = await createAccount('stranger')
  const query = `key=${acme.id}&${PAGE}`
  const link = await acme.sign(PAGE)
  await refuses(t, 'expired', await acme.sign(`${PAGE}&expires=${inSeconds(-1)}`), '403 LINK_INVALID')
  await refuses(t, 'without a signature', query, '401 UNAUTHORIZED')
  await refuses(t, 'without a key', await signed(PAGE, acme.secret), '401 UNAUTHORIZED')
  await refuses(t, 'signed with the secret of another key', await signed(query, stranger.secret), '403 LINK_INVALID')
  await refuses(t, 'with the key of another account', link.replace(acme.id, stranger.id), '403 LINK_INVALID')
  await refuses(t, 'encoded twice', link.replaceAll('%', '%25'), '403 LINK_INVALID')
  await refuses(t, 'with a repeated name', await acme.sign(`${PAGE}&format=png&format=webp`), '400 VALIDATION_ERROR')
  await refuses(t, 'with a repeated url', await acme.sign(`${PAGE}&${PAGE}`), '400 VALIDATION_ERROR')
  await refuses(t, 'with a repeated signature', `${link}&signature=${'0'.repeat(64)}`, '400 VALIDATION_ERROR')
  await refuses(t, 'with an unknown name', await acme.sign(`${PAGE}&viewport=1`), '400 VALIDATION_ERROR')
})

t.test('links end with their key and their account', async (t) => {
  const accept = async ({ sign }: Signer) => {
    const link = await sign(PAGE)
    t.strictSame([outcomeOf(await take(gateway, link)), outcomeOf(await take(other, link))], ['200', '200'], 'control: it works before')
    return link
  }
  const change = (signer: Signer, spec: object) => world.keys.patch(toObjectName(signer.id), mergePatch({ spec }))
  const [disabled, expired, deleted] = [await acme.createSigner(), await acme.createSigner(), await acme.createSigner()]
  const links = { disabled: await accept(disabled), expired: await accept(expired), deleted: await accept(deleted) }
  await call(`${gateway.url}/v1/keys/${disabled.id}`, { method: 'PATCH', key: acme.text, body: { is_active: false } })
  await change(expired, { expiryTime: new Date(Date.now() - 1_000).toISOString() })
  await call(`${gateway.url}/v1/keys/${deleted.id}`, { method: 'DELETE', key: acme.text })
  for (const [name, link] of Object.entries(links)) await refuses(t, `key ${name}`, link, '401 INVALID_API_KEY')
  const narrow = await acme.createSigner({ scopes: ['screenshots:read'] })
  await refuses(t, 'a key that cannot create screenshots', await narrow.sign(PAGE), '403 INSUFFICIENT_SCOPE')
  const late = await createAccount('late')
  const link = await late.sign(PAGE)
  await capture(link)
  await world.accounts.patch('late', mergePatch({ spec: { suspended: true } }))
  await refuses(t, 'a suspended account', link, '403 ACCOUNT_SUSPENDED')
})

t.test('the link policy of a key limits options and hosts, also the host after redirects', async (t) => {
  const limited = await acme.createSigner({
    link_policy: { allowed_hosts: ['example.com', '*.example.org'], allowed_options: ['viewport_width'] },
  })
  await refuses(t, 'an option', await limited.sign(`${PAGE}&full_page=true`), '403 OPTION_NOT_ALLOWED')
  for (const host of ['example.net', 'www.example.com', 'example.org', 'example.com.evil.net', 'evilexample.com']) {
    await refuses(t, host, await limited.sign(`url=https://${host}/`), '400 URL_NOT_ALLOWED')
  }
  await capture(await limited.sign('url=https://www.example.org/&viewport_width=800'))
  // The first request captures the page, and notices the redirect. It is charged, like each capture.
  const link = await limited.sign(REDIRECTING)
  t.equal(outcomeOf(await take(gateway, link)), '400 URL_NOT_ALLOWED', 'while it is captured')
  await whenEnded()
  await refuses(t, 'a redirect to another host', link, '400 URL_NOT_ALLOWED')
  t.equal(outcomeOf(await take(gateway, await acme.sign(REDIRECTING))), '200', 'control: a key without a policy gets the picture')
})

t.test('a link shows no text of its own under an allowed host, unless the policy allows own markup', async (t) => {
  const allowed_hosts = ['example.com']
  const base = 'html_base_url=https%3A%2F%2Fexample.com%2F'
  const forged = `html=%3Ch1%3EPay%20here%3C%2Fh1%3E%3Ciframe%20src%3D%22${encodeURIComponent(FAR)}%22%3E&${base}`
  const limited = await acme.createSigner({ link_policy: { allowed_hosts } })
  for (const query of [forged, `markdown=%23%20Pay&${base}`, `${PAGE}&styles=a%7B%7D`, `${PAGE}&style_urls=${encodeURIComponent(FAR)}`]) {
    await refuses(t, query, await limited.sign(query), '403 OPTION_NOT_ALLOWED')
  }
  const open = await acme.createSigner({ link_policy: { allowed_hosts, allow_own_markup: true } })
  await capture(await open.sign(forged))
  await refuses(t, 'a cached picture of own markup', await limited.sign(forged), '403 OPTION_NOT_ALLOWED')
})

t.test('links refuse secrets, scripts, proxies, own storage, callbacks, and captures with each request', async (t) => {
  const names = [
    ...privateOptionNames.map(toSnakeCase),
    ...['scripts', 'script_urls', 'init_script', 'wait_for_function', 'proxy', 'proxy_bypass'],
    ...['storage_bucket', 'storage_endpoint', 'storage_region', 'storage_path_style', 'storage_path'],
    ...['webhook_url', 'webhook_events'],
  ]
  t.ok(names.length > 15, `${names.length} options`)
  for (const parameter of [...names.map((name) => `${name}=x`), 'cache=false', 'cache_refresh=true']) {
    await refuses(t, parameter, await acme.sign(`${PAGE}&${parameter}`), '403 OPTION_NOT_ALLOWED')
  }
  await refuses(t, 'a password in the URL', await acme.sign('url=https://user:pass@example.com/'), '403 OPTION_NOT_ALLOWED')
})

t.test('links are valid in another order and another encoding, and with parameters of tracking services', async (t) => {
  const values = { url: 'https://example.com/a b/ä~!?q=1&r=(2)', viewport_width: '640', click: '#menu .open' }
  const sorted = new URLSearchParams(values).toString().replaceAll('+', '%20')
  const link = await acme.sign(sorted)
  await capture(link)
  const pairs = link.split('&')
  const unreserved = (text: string) =>
    text.replaceAll(/(?<!%.?)[a-z](?=[^&]*(?:&|$))/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  const equal: Record<string, string> = {
    reversed: pairs.toReversed().join('&'),
    'signature first': [pairs.at(-1), ...pairs.slice(0, -1)].join('&'),
    '+ for a space': link.replaceAll('%20', '+'),
    'lower-case digits': link.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    'unreserved characters encoded': unreserved(link),
    'reserved characters not encoded': link.replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%3F', '?'),
    'tracking parameters': `utm_source=a&${link}&utm_campaign=b%26c&fbclid=x&gclid=y&utm_source=z`,
    'empty parameters': `&${link.replace('&', '&&')}&`,
  }
  const before = await snapshot(world)
  for (const [name, query] of Object.entries(equal)) {
    t.not(query, link, `control: ${name} differs`)
    for (const replica of [gateway, other]) t.equal(outcomeOf(await take(replica, query)), '200', name)
  }
  t.strictSame(await snapshot(world), before, 'all of them get the same picture')
})

t.test('a rotated link secret signs until its overlap ends, over all replicas', async (t) => {
  const signer = await acme.createSigner()
  const api = `${gateway.url}/v1/keys/${signer.id}/link-secret`
  const rotate = (body?: object) => call(`${api}/rotate`, { method: 'POST', key: acme.text, ...(body ? { body } : {}) })
  const withSecret = (secret: string) => signed(`key=${signer.id}&${PAGE}`, secret)
  const outcomes = async (link: string) => [outcomeOf(await take(gateway, link)), outcomeOf(await take(other, link))]
  const first = await signer.sign(PAGE)
  t.strictSame(await outcomes(first), ['200', '200'], 'control')
  const { body: one } = await rotate({ overlap_hours: 1 })
  const second = await withSecret(one.data.link_secret)
  await eventually('both replicas accept the new secret', async () => (await outcomes(second)).every((outcome) => outcome === '200'))
  t.strictSame(await outcomes(first), ['200', '200'], 'the old secret is valid during the overlap')
  const refused = await rotate({ overlap_hours: 1 })
  t.match(refused, { status: 409, body: { error: { code: 'ROTATION_IN_PROGRESS' } } })
  const expiryTime = new Date(Date.now() - 1_000).toISOString()
  await world.keys.patch(toObjectName(signer.id), mergePatch({ spec: { linkSecret: { previous: { expiryTime } } } }))
  await refuses(t, 'after the overlap', first, '403 LINK_INVALID')
  t.strictSame(await outcomes(second), ['200', '200'])
  await rotate({ overlap_hours: 1 })
  const forced = await rotate({ overlap_hours: 1, force: true })
  t.equal(forced.status, 200)
  await refuses(t, 'before the last two rotations', second, '403 LINK_INVALID')
  t.strictSame(await outcomes(await withSecret(forced.body.data.link_secret)), ['200', '200'])
})

t.test('a key gets the link secret of keys of its account that have no more scopes', async (t) => {
  const manager = await acme.createSigner({ scopes: ['keys:read', 'keys:write'] })
  const reader = await acme.createSigner({ scopes: ['keys:read'] })
  const stranger = await createAccount('foreign')
  const ask = async (route: string, key: string, id: string) => {
    const { status, body } = await call(`${other.url}/v1/keys/${id}/${route}`, { method: 'POST', key })
    return status === 200 ? '200' : `${status} ${body.error.code}`
  }
  for (const route of ['link-secret', 'link-secret/rotate']) {
    t.equal(await ask(route, manager.text, manager.id), '200')
    t.equal(await ask(route, manager.text, reader.id), '200')
    t.equal(await ask(route, manager.text, acme.id), '403 INSUFFICIENT_SCOPE', 'a key with more scopes')
    t.equal(await ask(route, reader.text, reader.id), '403 INSUFFICIENT_SCOPE', 'without the scope keys:write')
    t.equal(await ask(route, stranger.text, acme.id), '404 NOT_FOUND', 'a key of another account')
  }
})

t.test('a link of a new key works at once on another replica', async (t) => {
  for (let count = 0; count < 5; count++) {
    const { sign } = await acme.createSigner()
    t.equal(outcomeOf(await take(other, await sign(PAGE))), '200')
  }
})
