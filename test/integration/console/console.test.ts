import { readdir } from 'node:fs/promises'
import type { Locator, Page } from 'playwright'
import t from 'tap'
import { toId } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { complete } from '../api-gateway/runner-role.ts'
import { endEach } from '../links/stage.ts'
import { assertAccessible, captureEach, openConsole, signIn, startForeignSite, startStage, visit } from './stage.ts'

// The console in a browser over two gateways: the playground, accessibility, the keyboard, what other pages must not be able to do, how sessions begin
// and end, and where no key may appear.

const stage = await startStage(t)
const { world, gateways, key, picture } = stage
const [{ url }, other] = gateways

/** Width of a loaded picture, 0 until then. */
const widthOf = (picture: Locator): Promise<number> =>
  picture.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth)

t.test('the playground captures a page, and everything comes from the gateway', async (t) => {
  captureEach(t, stage, {
    timings: { navigate: 310, settle: 400, upload: 90 },
    page: { timings: { load: 300 } },
    warnings: ['the page was still loading'],
  })
  const seen = await visit(t, stage)
  const { page, complaints, requests } = seen
  const scripts: Promise<number>[] = []
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script')
      scripts.push(
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => responseBodySize),
      )
  })
  await signIn(seen, url, key)
  await page.getByLabel('Page', { exact: true }).fill('https://example.com/')
  await page.getByLabel('Search options').fill('dark mode')
  await page.getByLabel('dark_mode', { exact: true }).selectOption('true')
  await page.getByRole('button', { name: 'Capture' }).click()
  const picture = page.getByRole('img', { name: 'Capture of https://example.com/' })
  await picture.waitFor()
  await eventually('the picture is drawn', async () => (await widthOf(picture)) === 1280)
  await page.getByText('the page was still loading').waitFor()
  await page.getByText('Steps of the capture: 800 ms').waitFor()
  const [shot] = await world.screenshots.listAll()
  t.match(shot?.spec, { url: 'https://example.com/', accountName: 'acme', options: { darkMode: true, metadataTimings: true } })
  t.strictSame(complaints, [])
  assertEvery(t, requests, (request) => request.startsWith(`${url}/`) || request.startsWith('data:'))
  const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0)
  t.ok(bytes > 10_000 && bytes <= 200 * 1024, `${bytes} bytes of scripts`)
})

t.test('the playground reports contradictions while you type, and refuses to send them', async (t) => {
  const { page } = await openConsole(t, stage)
  await page.getByLabel('Search options').fill('full_page selector')
  await page.getByLabel('Search options').fill('selector')
  await page.getByLabel('selector', { exact: true }).fill('#main')
  await page.getByLabel('Search options').fill('')
  await page.getByLabel('full_page', { exact: true }).selectOption('true')
  await page.getByText('1 to fix').waitFor()
  // The group with the option can be closed.
  await page.getByText('To correct in the options').waitFor()
  t.ok(await page.getByRole('button', { name: 'Capture' }).isDisabled())
  await page.getByLabel('full_page', { exact: true }).selectOption('')
  t.notOk(await page.getByRole('button', { name: 'Capture' }).isDisabled())
})

t.test('the signed link of the playground shows the picture', async (t) => {
  captureEach(t, stage)
  const { page } = await openConsole(t, stage)
  await page.getByRole('tab', { name: 'Signed link' }).click()
  await page.getByText('A link without an end never ends.').waitFor()
  await page.getByRole('button', { name: 'Sign link' }).click()
  const link = await page.getByText('/v1/take?').textContent()
  t.notMatch(link, 'expires=')
  const response = await fetch(link ?? '')
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'image/png')
  await page.getByLabel('Ends').selectOption({ label: 'in 7 days' })
  await page.getByRole('button', { name: 'Sign the changed link' }).click()
  const ending = new URL((await page.getByText('/v1/take?').textContent()) ?? '')
  const days = (Number(ending.searchParams.get('expires')) - Date.now() / 1_000) / 86_400
  t.ok(days > 6.9 && days <= 7, `${days} days`)
  t.equal((await fetch(ending)).status, 200)
})

t.test('with console.enabled=false, a gateway has none of the routes and still serves the API', async (t) => {
  const { url: plain } = await world.startGateway({ TINTYPE_CONSOLE: 'false', TINTYPE_CONSOLE_DIRECTORY: stage.directory })
  const headers = { accept: 'text/html', authorization: `Bearer ${key}`, 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
  for (const path of ['/', '/console/session', `/console/assets/${(await readdir(`${stage.directory}/assets`))[0]}`])
    t.equal((await fetch(plain + path, { headers })).status, 404, path)
  t.equal((await call(`${plain}/v1/screenshots`, { key })).status, 200)
})

interface Attempt {
  method?: string
  mode?: 'no-cors'
  headers?: Record<string, string>
  body?: string
}

/** What a page of another origin gets when it sends these requests to a path of the gateway. To another origin of the same site, the browser sends even a
 * strict cookie. */
const outcomesAt = (page: Page, path: string, attempts: Attempt[]): Promise<string[]> =>
  page.evaluate(
    ([target, requests]) => {
      const send = (attempt: Attempt) =>
        fetch(target, { credentials: 'include', ...attempt }).then(
          (response) => `${response.type} ${response.status}`,
          () => 'blocked',
        )
      return Promise.all(requests.map(send))
    },
    [url + path, attempts] as const,
  )

/** A form of another origin, and its script. */
const attemptsWith = (body: string): Attempt[] => [
  { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body },
  { method: 'POST', headers: { 'content-type': 'application/json', 'x-tintype-console': '1' }, body },
]

t.test('pages of other origins cannot use the session', async (t) => {
  const { context } = await openConsole(t, stage)
  const before = (await world.screenshots.listAll()).length
  const attacker = await context.newPage()
  await attacker.goto(await startForeignSite(t))
  const attempts = [...attemptsWith(JSON.stringify({ url: 'https://example.com/' })), { headers: { 'x-tintype-console': '1' } }, {}]
  t.strictSame(await outcomesAt(attacker, '/v1/screenshots', attempts), ['opaque 0', 'blocked', 'blocked', 'blocked'])
  t.equal((await world.screenshots.listAll()).length, before, 'nothing was created')
})

t.test('the console is accessible and fits a telephone, in light and in dark', async (t) => {
  captureEach(t, stage, { timings: { navigate: 310, settle: 400 }, page: { timings: { load: 300 } } })
  const seen = await visit(t, stage, { width: 360 })
  const { page } = seen
  await page.goto(`${url}/`)
  await page.getByLabel('API key').waitFor()
  await assertAccessible(t, page, 'sign-in')
  await signIn(seen, url, key)
  await page.getByRole('button', { name: 'Capture' }).click()
  await page.getByText('Steps of the capture').waitFor()
  // Every group is open, so that every kind of field is checked.
  await page.getByLabel('Search options').fill('a')
  await assertAccessible(t, page, 'playground')
})

// The console without a mouse. Every press goes through the browser, and every element that receives the focus must show it.

/** More than the elements of the largest page. */
const MAX_PRESSES = 150

interface Focused {
  name: string
  role: string
  /** An outline is drawn at the element or at its label, inside the window. */
  isVisible: boolean
}

const READ_FOCUS = `(() => {
  const element = document.activeElement
  if (!element || element === document.body) return { name: '', role: 'body', isVisible: true }
  const label = element.labels?.[0]
  const name = element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent ?? ''
  const isOutlined = (one) => one && getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) > 0
  const { top, bottom, left, right } = (label?.contains(element) ? label : element).getBoundingClientRect()
  const isInWindow = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
  return { name: name.trim(), role: element.getAttribute('role') ?? element.localName, isVisible: isInWindow && (isOutlined(element) || isOutlined(label)) }
})()`

const readFocus = (page: Page): Promise<Focused> => page.evaluate<Focused>(READ_FOCUS)

/** Ends a capture, and the comparison that it asked for. */
function end({ metadata, spec }: Screenshot): Promise<void> {
  const comparison = { changed: false, changedRatio: 0, changedPixels: 0, sizeChanged: false, regions: [] }
  const compared = spec.options?.compareTo === undefined ? {} : { pageTitle: 'Compared by keyboard', comparison }
  return complete(toId(metadata.name), picture, world, { width: 1280, height: 800, ...compared })
}

t.test('everything can be done with the keyboard alone, and the focus is always visible', async (t) => {
  endEach(t, world, end)
  const { page, complaints } = await visit(t, stage)
  const hidden = new Set<string>()
  const press = async (keys: string): Promise<Focused> => {
    await page.keyboard.press(keys)
    const focused = await readFocus(page)
    // The content receives the focus as a whole, without a control in it.
    if (!focused.isVisible && !['main', 'h1'].includes(focused.role)) hidden.add(`${focused.role} ${focused.name}`)
    return focused
  }
  /** Presses Tab until an element has the focus. Wraps around at the end of the page. */
  const tabTo = async (name: string | RegExp, role?: string): Promise<void> => {
    const isWanted = (focused: Focused): boolean =>
      (typeof name === 'string' ? focused.name === name : name.test(focused.name)) && (role === undefined || focused.role === role)
    const seen: string[] = []
    for (let presses = 0; presses < MAX_PRESSES; presses++) {
      const focused = await press('Tab')
      if (isWanted(focused)) return
      seen.push(`${focused.role} ${focused.name}`)
    }
    throw new Error(`Tab does not reach ${name}: ${seen.join(', ')}`)
  }
  const replace = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+A')
    await page.keyboard.type(text)
  }

  await page.goto(`${url}/`)
  await page.getByLabel('API key').waitFor()
  await tabTo('API key')
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()

  t.match(await press('Tab'), { name: 'Skip to content' })
  await press('Enter')
  await tabTo('Page', 'input')
  await replace('https://example.com/keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Capture of https://example.com/keyboard' }).waitFor()
  await tabTo('Record', 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Compare with this' }).waitFor()
  t.match(await readFocus(page), { role: 'h1' }, 'the new page has the focus')
  await tabTo('Compare with this')
  await page.keyboard.press('Enter')
  // The URL of the record arrives after the option of the link.
  await page.getByText(/"url": "https:\/\/example.com\/keyboard".*"compare_to": "scr_/s).waitFor()
  await tabTo('Page', 'input')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Capture of https://example.com/keyboard' }).waitFor()

  // The arrow keys move the slider and choose a picture.
  await tabTo('Screenshots', 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Compared by keyboard' }).waitFor()
  await tabTo(/Compared by keyboard/, 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Before' }).waitFor()
  await tabTo('Slider', 'input')
  await tabTo('Share of the picture before', 'input')
  await press('ArrowRight')
  t.equal(await page.getByRole('slider').getAttribute('aria-valuetext'), '51 % before, 49 % after')
  await page.keyboard.press('Shift+Tab')
  await press('ArrowRight')
  t.ok(await page.getByRole('radio', { name: 'Before' }).isChecked())

  await tabTo('Schedules', 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'New schedule' }).waitFor()
  await tabTo('New schedule')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Create schedule' }).waitFor()
  await tabTo('Page', 'input')
  await page.keyboard.type('https://example.com/')
  await tabTo('Name', 'input')
  await page.keyboard.type('by keyboard')
  await tabTo('Create schedule')
  await page.keyboard.press('Space')
  await page.getByRole('heading', { name: 'by keyboard' }).waitFor()

  // A dialog takes the focus, keeps it, and gives it back.
  await tabTo('Delete', 'button')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  const isInDialog = (): Promise<boolean> => page.evaluate('document.activeElement.closest("dialog") !== null')
  t.ok(await isInDialog())
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  t.match(await readFocus(page), { name: 'Delete', isVisible: true }, 'the focus is where it was')
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  await tabTo('Delete', 'button')
  t.ok(await isInDialog())
  await page.keyboard.press('Enter')
  await page.getByText('No schedules yet').waitFor()
  t.match(await readFocus(page), { role: 'h1' })

  await tabTo('Sign out')
  await page.keyboard.press('Enter')
  await page.getByLabel('API key').waitFor()
  t.strictSame([...hidden], [], 'elements whose focus cannot be seen')
  t.strictSame(complaints, [])
})

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
  const { page, complaints } = await openConsole(t, stage)
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
  t.strictSame(complaints, [])
})

t.test('pages of other origins and frames cannot sign a visitor in', async (t) => {
  const { path, code } = await linkOf(key)
  const { page, context } = await visit(t, stage)
  const body = JSON.stringify({ code })
  await page.goto(await startForeignSite(t))
  for (const path of ['/console/session', '/console/codes/describe'])
    t.strictSame(await outcomesAt(page, path, attemptsWith(body)), ['opaque 0', 'blocked'], path)
  await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(url + path)} }))`)
  await eventually('the frame is refused', async () => page.frames()[1]?.url().startsWith('chrome-error:'))
  t.strictSame(await context.cookies(), [])
  t.equal((await call(`${url}/console/session`, { method: 'POST', headers: OF_CONSOLE, body })).status, 200, 'the code is still unused')
})

t.test('a sign-in link can be answered with the keyboard and a screen reader, on a telephone, in light and in dark', async (t) => {
  const { page } = await openConsole(t, stage, { width: 360 })
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
  const { page, context } = await openConsole(t, stage)
  // Ports do not separate cookies, so the session also works at the other replica.
  const elsewhere = await context.newPage()
  await elsewhere.goto(`${other.url}/`)
  await elsewhere.getByRole('navigation', { name: 'Pages' }).waitFor()
  const cookie = await cookieOf(page)
  t.match((await context.cookies())[0], { httpOnly: true, sameSite: 'Strict', name: 'tintype-session' })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  t.strictSame(await context.cookies(), [])
  await ended(cookie)
})

t.test('deleting a key ends its sessions on every replica, and the open page asks to sign in', async (t) => {
  const { body } = await call(`${url}/v1/keys`, {
    method: 'POST',
    key,
    body: { name: 'short-lived', scopes: ['screenshots:read', 'usage:read'] },
  })
  const { page } = await openConsole(t, stage, { key: body.data.key })
  const cookie = await cookieOf(page)
  t.strictSame(await statusesOf(cookie), [200, 200])
  await call(`${other.url}/v1/keys/${body.data.id}`, { method: 'DELETE', key })
  await ended(cookie)
  await page.getByText('Your session has ended. Sign in again.').waitFor()
  await page.getByLabel('API key').waitFor()
})

t.test('the rotation of the key of the session shows the new text, and the page stays signed in', async (t) => {
  const made = await world.createKey({ accountName: 'acme', name: 'own' })
  const { page, complaints } = await openConsole(t, stage, { key: made })
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
  t.strictSame(complaints, [])
})

t.test('keys are in no storage of the browser, in no URL, and in no log', async (t) => {
  const { page, context, requests } = await openConsole(t, stage, { path: 'keys' })
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
