import { readdir } from 'node:fs/promises'
import type { Locator, Page } from 'playwright'
import t from 'tap'
import { toId } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { complete } from '../api-gateway/runner-role.ts'
import { endEach } from '../links/stage.ts'
import { assertAccessible, captureEach, signIn, startForeignSite, startStage, visit } from './stage.ts'

// The console in a browser: sign-in, the playground, accessibility, the keyboard, and what other pages must not be able to do.

const stage = await startStage(t)
const { world, gateways, key, picture } = stage
const [{ url }] = gateways

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
  t.strictSame(
    requests.filter((request) => !request.startsWith(`${url}/`) && !request.startsWith('data:')),
    [],
  )
  const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0)
  t.ok(bytes > 10_000 && bytes <= 200 * 1024, `${bytes} bytes of scripts`)
})

t.test('the playground reports contradictions while you type, and refuses to send them', async (t) => {
  const seen = await visit(t, stage)
  const { page } = seen
  await signIn(seen, url, key)
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
  const seen = await visit(t, stage)
  await signIn(seen, url, key)
  await seen.page.getByRole('tab', { name: 'Signed link' }).click()
  await seen.page.getByText('A link without an end never ends.').waitFor()
  await seen.page.getByRole('button', { name: 'Sign link' }).click()
  const link = await seen.page.getByText('/v1/take?').textContent()
  t.notMatch(link, 'expires=')
  const response = await fetch(link ?? '')
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'image/png')
  await seen.page.getByLabel('Ends').selectOption({ label: 'in 7 days' })
  await seen.page.getByRole('button', { name: 'Sign the changed link' }).click()
  const ending = new URL((await seen.page.getByText('/v1/take?').textContent()) ?? '')
  const days = (Number(ending.searchParams.get('expires')) - Date.now() / 1_000) / 86_400
  t.ok(days > 6.9 && days <= 7, `${days} days`)
  t.equal((await fetch(ending)).status, 200)
})

t.test('with console.enabled=false, a gateway has none of the routes and still serves the API', async (t) => {
  const { url: plain } = await world.startGateway({ TINTYPE_CONSOLE: 'false', TINTYPE_CONSOLE_DIRECTORY: stage.directory })
  const headers = { accept: 'text/html', authorization: `Bearer ${key}`, 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/console/session'],
    ['POST', '/console/session'],
    ['DELETE', '/console/session'],
    ['POST', '/console/codes'],
    ['POST', '/console/codes/describe'],
    ['GET', `/console/assets/${(await readdir(`${stage.directory}/assets`))[0]}`],
  ] as const)
    t.equal((await fetch(plain + path, { method, headers })).status, 404, `${method} ${path}`)
  t.equal((await call(`${plain}/v1/screenshots`, { key })).status, 200)
})

t.test('pages of other origins cannot use the session', async (t) => {
  const seen = await visit(t, stage)
  await signIn(seen, url, key)
  const before = (await world.screenshots.listAll()).length
  // To another origin of the same site, the browser sends even a strict cookie.
  const attacker = await seen.context.newPage()
  await attacker.goto(await startForeignSite(t))
  const outcomes = await attacker.evaluate(async (target) => {
    const body = JSON.stringify({ url: 'https://example.com/' })
    const attempts: RequestInit[] = [
      { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body },
      { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'x-tintype-console': '1' }, body },
      { credentials: 'include', headers: { 'x-tintype-console': '1' } },
      { credentials: 'include' },
    ]
    const send = (attempt: RequestInit) =>
      fetch(`${target}/v1/screenshots`, attempt).then(
        (response) => `${response.type} ${response.status}`,
        () => 'blocked',
      )
    return Promise.all(attempts.map(send))
  }, url)
  t.strictSame(outcomes, ['opaque 0', 'blocked', 'blocked', 'blocked'])
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
