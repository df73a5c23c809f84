import type { Page } from 'playwright'
import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import { keyHash } from '../../../crds/src/crypto/key-text.ts'
import { apiKeyIdOf } from '../../../crds/src/identifiers/ids.ts'
import { Label } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { assertAccessible, signIn, startForeignSite, startStage, visit } from './stage.ts'

// Sessions of the console over two gateways: how they begin, how they end, and where no key may appear.

const stage = await startStage(t)
const { gateways, key, world } = stage
const [{ url }, other] = gateways
const OF_CONSOLE = { 'content-type': 'application/json', 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }

/** Status of a request with a copied cookie, at each gateway. */
const statusesOf = (cookie: string): Promise<number[]> =>
  Promise.all(
    gateways.map(async (gateway) => (await fetch(`${gateway.url}/v1/usage/current`, { headers: { ...OF_CONSOLE, cookie } })).status),
  )

const ended = (cookie: string) =>
  eventually('the copied session ends on every replica', async () => (await statusesOf(cookie)).every((status) => status === 401))

/** A sign-in link of a key. */
const linkOf = async (text: string): Promise<{ path: string; code: string }> =>
  (await call(`${url}/console/codes`, { method: 'POST', key: text })).body.data

t.test('a sign-in link signs in after a click, once over all replicas, and leaves the address bar', async (t) => {
  const { path, code } = await linkOf(key)
  const first = await visit(t, stage)
  const { page, context } = first
  await page.goto(url + path)
  await page.getByRole('heading', { name: 'Sign in to account acme as key Ada?' }).waitFor()
  t.strictSame(await context.cookies(), [], 'nobody is signed in before the click')
  t.notMatch(page.url(), 'code')
  await page.locator('.sign-in button:disabled').waitFor({ state: 'detached' })
  // Another window closes between the clicks of a double click, and this one receives the focus and the second click.
  const isDisabled = `(async () => {
    dispatchEvent(new Event('focus'))
    await new Promise((done) => setTimeout(done))
    return document.querySelector('.sign-in button').disabled
  })()`
  t.ok(await page.evaluate(isDisabled), 'a click that was meant for another window does not count')
  await page.getByRole('button', { name: 'Sign in to account acme as key Ada' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  t.notMatch(first.requests.join(), code)
  t.strictSame(first.complaints, [])
  const second = await visit(t, stage)
  await second.page.goto(other.url + path)
  await second.page.getByText('the sign-in link was used or has expired').waitFor()
  await second.page.getByRole('button', { name: 'Sign in with an API key' }).click()
  await second.page.getByLabel('API key').waitFor()
})

t.test('a sign-in link of another account replaces a session only if the visitor chooses it', async (t) => {
  await world.createAccount('evil')
  const evil = await world.createKey({ accountName: 'evil', name: '\u{202e}adA' })
  const seen = await visit(t, stage)
  const { page } = seen
  await signIn(seen, url, key)
  const own = await cookieOf(page)
  const { path, code } = await linkOf(evil)
  // The page is open already, so the browser changes only the fragment.
  await page.evaluate(`location.hash = ${JSON.stringify(path.slice(1))}`)
  await page.getByRole('heading', { name: 'Sign in to account evil as key \\u202eadA?' }).waitFor()
  t.notMatch(page.url(), 'code')
  t.equal(await cookieOf(page), own)
  await page.getByText('Signing in replaces your session in this browser.').waitFor()
  await page.getByRole('button', { name: 'Stay signed in to account acme as key Ada' }).click()
  await page.locator('.who').getByText('acme').waitFor()
  t.equal(await cookieOf(page), own)
  await page.goto(`${url}/?again#code=${code}`)
  await page.getByRole('button', { name: 'Sign in to account evil' }).click()
  await page.locator('.who').getByText('evil').waitFor()
  t.not(await cookieOf(page), own)
  t.strictSame(seen.complaints, [])
})

t.test('pages of other origins and frames cannot sign a visitor in', async (t) => {
  const { path, code } = await linkOf(key)
  const { page, context } = await visit(t, stage)
  const body = JSON.stringify({ code })
  await page.goto(await startForeignSite(t))
  const outcomes = await page.evaluate(
    ([target, text]) => {
      const attempts: RequestInit[] = [
        { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: text! },
        { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'x-tintype-console': '1' }, body: text! },
      ]
      const send = (path: string, attempt: RequestInit) =>
        fetch(target + path, attempt).then(
          (response) => `${response.type} ${response.status}`,
          () => 'blocked',
        )
      return Promise.all(['/console/session', '/console/codes/describe'].flatMap((path) => attempts.map((attempt) => send(path, attempt))))
    },
    [url, body],
  )
  t.strictSame(outcomes, ['opaque 0', 'blocked', 'opaque 0', 'blocked'])
  await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(url + path)} }))`)
  await eventually('the frame is refused', async () => page.frames()[1]?.url().startsWith('chrome-error:'))
  t.strictSame(await context.cookies(), [])
  t.equal((await call(`${url}/console/session`, { method: 'POST', headers: OF_CONSOLE, body })).status, 200, 'the code is still unused')
})

t.test('a sign-in link can be answered with the keyboard and a screen reader, on a telephone, in light and in dark', async (t) => {
  const seen = await visit(t, stage, { width: 360 })
  const { page } = seen
  await signIn(seen, url, key)
  const long = await world.createKey({ accountName: 'acme', name: `a key ${'with_a_long_title_'.repeat(5)}` })
  await page.goto(`${url}/?link${(await linkOf(long)).path.slice(1)}`)
  const heading = page.getByRole('heading', { name: /^Sign in to account acme as key a key/ })
  await heading.waitFor()
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  t.match(await focused(), /^Sign in to account acme as key a key/, 'the question has the focus, and is read out')
  await page.locator('.sign-in button:disabled').waitFor({ state: 'detached' })
  await assertAccessible(t, page, 'the question')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  t.equal(await focused(), 'Stay signed in to account acme as key Ada')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.goto(`${url}/?used#code=wrong`)
  await page.getByRole('heading', { name: 'The link cannot sign you in' }).waitFor()
  await assertAccessible(t, page, 'the refusal')
  await page.getByRole('button', { name: 'Stay signed in to account acme as key a key' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
})

t.test('a code that is used at two replicas at the same time begins one session', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { body } = await call(`${url}/console/codes`, { method: 'POST', key })
    const request = { method: 'POST', headers: OF_CONSOLE, body: JSON.stringify({ code: body.data.code }) }
    const responses = await Promise.all([...gateways, ...gateways].map((gateway) => fetch(`${gateway.url}/console/session`, request)))
    t.strictSame(responses.map(({ status }) => status).sort(), [200, 401, 401, 401])
    t.equal(responses.filter(({ headers }) => headers.has('set-cookie')).length, 1)
  }
})

t.test('signing out ends the session on every replica', async (t) => {
  const seen = await visit(t, stage)
  await signIn(seen, url, key)
  // Ports do not separate cookies, so the session also works at the other replica.
  const elsewhere = await seen.context.newPage()
  await elsewhere.goto(`${other.url}/`)
  await elsewhere.getByRole('navigation', { name: 'Pages' }).waitFor()
  const cookie = await cookieOf(seen.page)
  t.match((await seen.context.cookies())[0], { httpOnly: true, sameSite: 'Strict', name: 'tintype-session' })
  await seen.page.getByRole('button', { name: 'Sign out' }).click()
  await seen.page.getByLabel('API key').waitFor()
  t.strictSame(await seen.context.cookies(), [])
  await ended(cookie)
})

t.test('deleting a key ends its sessions on every replica, and the open page asks to sign in', async (t) => {
  const { body } = await call(`${url}/v1/keys`, {
    method: 'POST',
    key,
    body: { name: 'short-lived', scopes: ['screenshots:read', 'usage:read'] },
  })
  const seen = await visit(t, stage)
  await signIn(seen, url, body.data.key)
  const cookie = await cookieOf(seen.page)
  t.strictSame(await statusesOf(cookie), [200, 200])
  await call(`${other.url}/v1/keys/${body.data.id}`, { method: 'DELETE', key })
  await ended(cookie)
  await seen.page.getByText('Your session has ended. Sign in again.').waitFor()
  await seen.page.getByLabel('API key').waitFor()
})

for (const [name, changeOf] of Object.entries({
  rotated: async (id: string) => {
    t.equal((await call(`${other.url}/v1/keys/${id}/rotate`, { method: 'POST', key, body: { overlap_hours: 24 } })).status, 201)
  },
  'deactivated with kubectl': async (_id: string, name: string) => {
    for (const active of [false, true]) await world.keys.patch(name, mergePatch({ spec: { active } }))
  },
})) {
  t.test(`a key that is ${name} loses its sessions and unused codes on every replica, but works on`, async (t) => {
    const made = await world.createKey({ accountName: 'acme', name: 'changing' })
    const object = (await world.keys.list()).items.find(({ metadata }) => metadata.labels?.[Label.keyHash1] === keyHash(made))!
    const { code } = await linkOf(made)
    const body = JSON.stringify({ api_key: made })
    const begun = await fetch(`${url}/console/session`, { method: 'POST', headers: OF_CONSOLE, body })
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    t.strictSame(await statusesOf(cookie), [200, 200])
    await changeOf(apiKeyIdOf(object.metadata), object.metadata.name)
    await ended(cookie)
    const works = (gateway: { url: string }) => call(`${gateway.url}/v1/usage/current`, { key: made })
    await eventually('the key works at both', async () => (await Promise.all(gateways.map(works))).every(({ status }) => status === 200))
    t.strictSame(await statusesOf(cookie), [401, 401])
    const sign = (gateway: { url: string }) =>
      call(`${gateway.url}/console/session`, { method: 'POST', headers: OF_CONSOLE, body: JSON.stringify({ code }) })
    t.strictSame(
      (await Promise.all(gateways.map(sign))).map(({ status }) => status),
      [401, 401],
    )
  })
}

t.test('the rotation of the key of the session shows the new text, and the page stays signed in', async (t) => {
  const made = await world.createKey({ accountName: 'acme', name: 'own' })
  const seen = await visit(t, stage)
  const { page } = seen
  await signIn(seen, url, made)
  const before = await cookieOf(page)
  await page.goto(`${url}/#/keys`)
  await page.getByRole('button', { name: 'Rotate own' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  t.match(await page.locator('.secret code').textContent(), /^ttk_/)
  // The text is shown before the page has signed in with it.
  const renewed = await eventually('the page has a new session', async () => {
    const cookie = await cookieOf(page)
    return cookie !== before && cookie
  })
  t.strictSame(await statusesOf(renewed), [200, 200], 'also at a replica that does not know the new text yet')
  await ended(before)
  await page.getByRole('row', { name: 'own' }).getByText('earlier text until').waitFor()
  t.strictSame(seen.complaints, [])
})

t.test('keys are in no storage of the browser, in no URL, and in no log', async (t) => {
  const seen = await visit(t, stage)
  const { page, context, requests } = seen
  await signIn(seen, url, key)
  await page.goto(`${url}/#/keys`)
  await page.getByLabel('Name').fill('made in the console')
  await page.getByRole('button', { name: 'Create key' }).click()
  const made = (await page.locator('.secret code').textContent()) ?? ''
  t.match(made, /^ttk_/)
  const stored = JSON.stringify(await context.storageState({ indexedDB: true }))
  const session = await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')
  const logs = gateways.map((gateway) => gateway.log()).join('')
  t.match(logs, 'api-gateway')
  for (const secret of [key, made])
    for (const [place, text] of Object.entries({ stored, session, urls: requests.join(), history: page.url(), logs }))
      t.notOk(text.includes(secret), place)
})

async function cookieOf(page: Page): Promise<string> {
  const [session] = await page.context().cookies()
  return `tintype-session=${session?.value}`
}
