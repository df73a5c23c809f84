import t from 'tap'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import { toId } from '../../../crds/src/identifiers/names.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { decode } from '../../support/picture.ts'
import { call } from '../api-gateway/client.ts'
import { complete, fail } from '../api-gateway/runner-role.ts'
import { endEach } from '../links/stage.ts'
import { assertAccessible, findViolations, openConsole, type Stage, startStage, visit } from './stage.ts'

// The pages of the console over real gateways: records, endpoints, keys, usage and videos, and hostile texts and files in them.

const stage = await startStage(t)
const { world, gateways, key, picture } = stage
const [{ url }] = gateways

/** Creates a screenshot and returns its id. */
async function create(options: object = {}, address = 'https://example.com/'): Promise<string> {
  const { body } = await call(`${url}/v1/screenshots`, { method: 'POST', key, body: { url: address, options } })
  return body.id
}

t.test('a record shows picture, facts and files, and can be deleted', async (t) => {
  const id = await create({ save_html: true, full_page: true })
  const { page, complaints } = await openConsole(t, stage, { path: `screenshots/${id}` })
  await page.getByText('The capture has not ended yet.').waitFor()
  await complete(id, picture, world, { width: 1280, height: 800, pageTitle: 'Prices' })
  await page.getByRole('heading', { name: 'Prices' }).waitFor()
  await page.getByRole('img', { name: 'Capture of https://example.com/' }).waitFor()
  await page.getByRole('link', { name: 'html' }).waitFor()
  await page.getByRole('button', { name: 'Actual size' }).click()
  t.equal(await page.getByRole('button', { name: 'Actual size' }).getAttribute('aria-pressed'), 'true')
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()])
  t.match(download.suggestedFilename(), /\.png$/)
  t.equal(page.context().pages().length, 1, 'no tab stays open')
  await page.goto(`${url}/#/screenshots`)
  await page.getByRole('link', { name: 'Prices' }).getByText('1280 × 800 png').waitFor()
  await page.getByRole('link', { name: 'Prices' }).click()
  await page.getByRole('link', { name: 'Capture again' }).click()
  const fullPage = page.getByLabel('full_page', { exact: true })
  await eventually('the form has the options of the record', async () => (await fullPage.inputValue()) === 'true')
  await page.goBack()
  await page.getByRole('button', { name: 'Delete' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No screenshots yet').waitFor()
  t.equal((await call(`${url}/v1/screenshots/${id}`, { key })).status, 404)
  t.strictSame(complaints, [])
})

t.test('a comparison shows both pictures, their differences and the changed regions', async (t) => {
  const before = await create()
  await complete(before, picture, world, { width: 1280, height: 800 })
  const { page, complaints } = await openConsole(t, stage, { path: `screenshots/${before}`, colorScheme: 'dark' })
  await page.getByRole('link', { name: 'Compare with this' }).click()
  await page.getByText(`Capture the page to compare it with ${before}.`).waitFor()
  await page.getByLabel('Search options').fill('compare_to')
  await eventually(
    'the form names the screenshot',
    async () => (await page.getByLabel('compare_to', { exact: true }).inputValue()) === before,
  )
  await page.getByRole('button', { name: 'Capture' }).click()
  const after = await eventually('the comparison is requested', async () =>
    (await world.screenshots.listAll()).find(({ spec }) => spec.options?.compareTo === before),
  )
  const comparison = {
    ...{ changed: true, changedRatio: 0.0124, changedPixels: 12_345, sizeChanged: true },
    regions: [{ x: 0, y: 400, width: 640, height: 40 }],
  }
  const id = screenshotIdOf(after.metadata)
  await complete(id, picture, world, { width: 1280, height: 400, comparison })
  await page.goto(`${url}/#/screenshots/${id}`)
  await page.getByText('1.2 %, 12,345 pixels').waitFor()
  await page.getByText('1280 × 800 before, 1280 × 400 after').waitFor()
  await page.getByRole('img', { name: 'Before' }).waitFor()
  t.strictSame(await findViolations(page), [])
  // The keyboard moves the slider.
  const split = page.getByRole('slider')
  await split.focus()
  await page.keyboard.press('Home')
  const { width, height, at } = await decode(await split.screenshot())
  const track = at(width - 20, Math.floor(height / 2))
  t.ok(Math.max(...track.slice(0, 3)) < 128, `the rest of the track is dark in dark mode: ${track}`)
  t.equal(await split.getAttribute('aria-valuetext'), '0 % before, 100 % after')
  await page.getByRole('radio', { name: 'Differences' }).check()
  const difference = page.getByRole('img', { name: 'Differences' })
  await eventually('the differences are drawn', () =>
    difference.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0),
  )
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download the differences' }).click()])
  t.equal(saved.suggestedFilename(), `${id}.diff.png`)
  await page.getByRole('checkbox', { name: 'Changed regions' }).uncheck()
  t.equal(await page.locator('.region').count(), 0)
  await call(`${url}/v1/screenshots/${before}`, { method: 'DELETE', key })
  await page.reload()
  await page.getByText('The earlier screenshot was deleted').waitFor()
  t.notOk(await page.getByRole('radio', { name: 'Slider' }).count(), 'only the pictures that exist are offered')
  assertEvery(t, complaints, (complaint) => complaint.includes('404'))
  await call(`${url}/v1/screenshots/${id}`, { method: 'DELETE', key })
})

t.test('texts that pages control run nothing, lead nowhere and do not reverse a line', async (t) => {
  const nasty = '\u{202e}<img src=x onerror="window.ran=1"><script>window.ran=1</script>"\'>{{7*7}}'
  const script = 'javascript:window.ran=1'
  const hostile = {
    pageTitle: nasty,
    finalUrl: script,
    warnings: [nasty],
    page: {
      ...{
        openGraph: { 'og:title': nasty, 'og:url': script },
        responseHeaders: { 'x-nasty': nasty },
        fonts: [nasty],
        links: [script, nasty],
      },
      ...{ icon: script, redirects: [script], timings: { load: 1 } },
    },
  }
  const good = await create(
    { metadata_timings: true, metadata_links: true, metadata_open_graph: true, metadata_http_response_headers: true },
    `https://example.com/?${nasty}`,
  )
  await complete(good, picture, world, hostile)
  const bad = await create({ user_agent: nasty.slice(1), styles: nasty, hide_selectors: [nasty] })
  await fail(bad, { code: 'NAVIGATION_FAILED', message: nasty }, world)
  const { body: webhook } = await call(`${url}/v1/webhooks`, {
    ...{ method: 'POST', key },
    body: { name: nasty.slice(0, 100), description: nasty, url: 'https://hooks.example.com/in', events: ['screenshot.failed'] },
  })
  await call(`${url}/v1/keys`, { method: 'POST', key, body: { name: nasty.slice(0, 100) } })
  const { page, complaints } = await openConsole(t, stage)
  const attempt = {
    ...{ number: 1, at: '2026-11-24T12:00:00Z', duration_ms: 5, status_code: 500 },
    ...{ error: null, error_message: nasty, response_body: `the receiver wrote ${nasty}` },
  }
  const delivery = {
    ...{ id: 'dlv_1', event_type: 'screenshot.failed', status: 'failed', screenshot_id: bad, attempts: [attempt] },
    ...{ last_status_code: 500, last_attempt_at: '2026-11-24T12:00:00Z' },
  }
  await page.route(/\/deliveries/, (route) => route.fulfill({ json: { success: true, data: [delivery], pagination: {} } }))
  const paths = [
    'screenshots',
    `screenshots/${good}`,
    `screenshots/${bad}`,
    `playground?from=${bad}`,
    'webhooks',
    `webhooks/${webhook.data.id}`,
    'keys',
  ]
  for (const path of paths) {
    // Loads the document again. Otherwise the text of the page before would be found.
    await page.goto('about:blank')
    await page.goto(`${url}/#/${path}`)
    await page.getByText('<img src=x').first().waitFor({ state: 'attached' })
    await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
    t.equal(await page.evaluate('window.ran'), undefined, path)
    const links = await page.evaluate<string[]>('[...document.querySelectorAll("a")].map((link) => link.protocol)')
    assertEvery(t, links, (protocol) => /^https?:$/.test(protocol), path)
    t.equal(await page.locator('[onerror], main script').count(), 0, path)
    const drawn = await page.evaluate<string>('document.documentElement.outerHTML')
    t.match(drawn, '\\u202e&lt;img', path)
    t.notMatch(drawn, '\u{202e}', path)
    if (path.startsWith('webhooks/')) t.match(drawn, String.raw`the receiver wrote \u202e&lt;img`)
  }
  t.strictSame(complaints, [])
})

t.test('stored files never run in the origin of the console', async (t) => {
  const html = Buffer.from('<!doctype html><title>ran</title><script>document.title="ran";localStorage.setItem("ran","1")</script>')
  const id = await create({ save_html: true, save_mhtml: true })
  await complete(id, html, world)
  const body = await eventually('the gateway has seen the result', async () => {
    const { body } = await call(`${url}/v1/screenshots/${id}`, { key })
    return body.status === 'completed' && body
  })
  const links: string[] = [body.download_url, ...body.artifacts.map(({ download_url }: { download_url: string }) => download_url)]
  t.equal(links.length, 3)
  const { page, context } = await visit(t, stage)
  for (const link of links) {
    const tab = await context.newPage()
    // Files other than pictures are downloads, so the browser does not open them.
    await tab.goto(link).catch((error: Error) => t.match(error.message, /Download is starting|ERR_ABORTED/))
    t.not(await tab.title(), 'ran')
    await tab.close()
  }
  await page.goto(`${url}/`)
  t.equal(await page.evaluate('localStorage.getItem("ran")'), null)
})

t.test('keys are created with scopes, shown once, and deleted', async (t) => {
  const { page } = await openConsole(t, stage, { path: 'keys' })
  await page.getByLabel('Name').fill('deploy pipeline')
  await page.getByLabel('Hosts that its signed links may capture').fill('example.com, *.example.com')
  await page.getByLabel('Hosts that the key may capture').fill('example.com')
  await page.getByRole('button', { name: 'Create key' }).click()
  const text = await page.locator('.secret code').textContent()
  t.equal((await call(`${url}/v1/screenshots`, { key: text ?? '' })).status, 200)
  t.equal((await call(`${url}/v1/keys`, { key: text ?? '' })).status, 403, 'it has only the chosen scopes')
  await page.getByRole('link', { name: 'Playground' }).click()
  await page.getByRole('button', { name: 'Capture' }).waitFor()
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByText(text ?? 'no text').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  t.notMatch(await page.content(), text ?? 'no text')
  await page.getByText('links: hosts example.com, *.example.com; no own markup').waitFor()
  const created = (await call(`${url}/v1/keys`, { key })).body.data.find(({ name }: { name: string }) => name === 'deploy pipeline')
  const policy = { allowed_hosts: ['example.com', '*.example.com'], allowed_options: null, allow_own_markup: false }
  t.strictSame(created.link_policy, policy)
  t.match(created.capture_policy, { allowed_hosts: ['example.com'], allow_own_content: false })
  await page.getByText('captures: hosts example.com; no own content').waitFor()
  await page.getByLabel('URL to test for deploy pipeline').fill('https://other.example/')
  await page.getByRole('button', { name: 'Test URL' }).click()
  await page.getByText('does not allow the host other.example of the url').waitFor()
  await page.getByRole('button', { name: 'Rotate deploy pipeline' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await page.getByText('The new text of the key “deploy pipeline”.').waitFor()
  await page.getByRole('link', { name: 'Playground' }).click()
  const [dialog] = await Promise.all([
    page.waitForEvent('dialog', { timeout: 5_000 }),
    page.evaluate('void setTimeout(() => location.reload())'),
  ])
  t.equal(dialog.type(), 'beforeunload', 'a reload would lose the text, so the browser asks')
  await dialog.dismiss()
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByText('The new text of the key “deploy pipeline”.').waitFor()
  await page.getByRole('button', { name: 'Delete deploy pipeline' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('deploy pipeline', { exact: true }).waitFor({ state: 'detached' })
  t.equal(await page.locator('.secret').count(), 0, 'the text of a deleted key is not shown')
  t.equal((await call(`${url}/v1/screenshots`, { key: text ?? '' })).status, 401)
})

t.test('endpoints are created, and their secrets rotated', async (t) => {
  const { page } = await openConsole(t, stage, { path: 'webhooks' })
  await page.getByLabel('Name').fill('billing')
  await page.getByLabel('URL').fill('http://hooks.example.com/billing')
  const problem = () => page.getByLabel('URL').evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage)
  t.equal(await problem(), 'The URL must start with https://.')
  await page.getByLabel('URL').fill('https://hooks.example.com/billing')
  t.equal(await problem(), '')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  t.match(await page.locator('.secret code').textContent(), /^whsec_/)
  await page.getByRole('link', { name: 'billing' }).click()
  await page.getByRole('button', { name: 'Rotate secret' }).first().click()
  const before = await page.locator('.secret code').textContent()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByText('The new signing secret of “billing”.').waitFor()
  const after = (await page.locator('.secret code').textContent()) ?? ''
  t.match(after, /^whsec_/)
  t.not(after, before)
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('button', { name: 'Create key' }).waitFor()
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByText(after).waitFor()
})

t.test('a key without scopes for a page does not see it', async (t) => {
  const limited = await world.createKey({ accountName: 'acme', scopes: ['screenshots:read'] })
  const { page } = await openConsole(t, stage, { key: limited })
  const names = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
  t.strictSame(names, ['Screenshots', 'Videos'])
})

// Videos: recorded from the playground, played, listed and deleted.

/** A webm of about half a second, recorded by the browser. */
async function makeClip({ browser }: Stage): Promise<Buffer> {
  const page = await browser.newPage()
  const bytes = await page.evaluate<string>(`(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 })
    const context = canvas.getContext('2d')
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: 'video/webm;codecs=vp8' })
    const chunks = []
    recorder.ondataavailable = ({ data }) => chunks.push(data)
    recorder.start()
    for (let frame = 0; frame < 15; frame++) {
      context.fillStyle = 'hsl(' + frame * 20 + ' 80% 50%)'
      context.fillRect(0, 0, 320, 240)
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
    await new Promise((resolve) => { recorder.onstop = resolve; recorder.stop() })
    const reader = new FileReader()
    await new Promise((resolve) => { reader.onload = resolve; reader.readAsDataURL(new Blob(chunks)) })
    return reader.result.slice(reader.result.indexOf(',') + 1)
  })()`)
  await page.close()
  return Buffer.from(bytes, 'base64')
}

const facts = { width: 320, height: 240, durationMilliseconds: 600, fps: 25, frames: 15 }

t.test('a video is recorded in the playground, plays, and can be deleted', async (t) => {
  const clip = await makeClip(stage)
  endEach(t, world, (shot) => complete(toId(shot.metadata.name), clip, world, facts))
  const { page, complaints } = await openConsole(t, stage, { path: 'videos' })
  await page.getByText('No videos yet').waitFor()
  await page.getByRole('link', { name: 'Record a video' }).click()
  await page.getByLabel('format', { exact: true }).selectOption('webm')
  await page.getByLabel('video_duration', { exact: true }).fill('1')
  await page.getByRole('button', { name: 'Record' }).click()
  const player = page.locator('video')
  await player.waitFor()
  await player.evaluate((video) => (video as unknown as { play(): Promise<void> }).play())
  await eventually('the video plays', () => player.evaluate((video) => (video as unknown as { currentTime: number }).currentTime > 0))
  await page.getByRole('link', { name: 'Record', exact: true }).click()
  await page.getByText('15, 25 a second').waitFor()
  const options = (await world.screenshots.listAll()).map(({ spec }) => spec.options)
  t.match(
    options.find((each) => each?.format !== undefined),
    { format: 'webm', videoDuration: 1 },
  )
  await page.getByRole('link', { name: 'Record again' }).click()
  const duration = page.getByLabel('video_duration', { exact: true })
  await eventually('the form has the options of the record', async () => (await duration.inputValue()) === '1')
  await page.goBack()
  await page.getByRole('button', { name: 'Delete' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No videos yet').waitFor()
  t.strictSame((await call(`${url}/v1/videos`, { key })).body.data, [])
  t.strictSame(complaints, [])
})

t.test('every page is accessible and fits a telephone, in light and in dark', async (t) => {
  const [shot] = (await world.screenshots.listAll()).filter(({ status }) => status?.phase === 'Completed')
  const [webhook] = (await call(`${url}/v1/webhooks`, { key })).body.data
  const body = { url: 'https://example.com/', options: { format: 'webm' } }
  const { id } = (await call(`${url}/v1/videos`, { method: 'POST', key, body })).body
  await complete(id, await makeClip(stage), world, { ...facts, pageTitle: '<img src=x onerror="window.ran=1">' })
  const admin = await world.createKey({ accountName: 'acme', scopes: ['*', 'admin:read'] })
  const { page } = await openConsole(t, stage, { key: admin, width: 360 })
  const pages: [path: string, part: string][] = [
    ['screenshots', '.card'],
    [`screenshots/${screenshotIdOf(shot!.metadata)}`, 'text=Copy id'],
    ['webhooks', 'text=Create an endpoint'],
    [`webhooks/${webhook.id}`, 'text=Health'],
    ['keys', 'text=this session'],
    ['system', 'text=Recent captures'],
    ['usage', 'text=Resets'],
    ['videos', '.card'],
    [`videos/${id}`, 'video'],
    ['playground?format=mp4', 'text=video_scroll_duration'],
  ]
  await page.locator('nav a').first().waitFor({ state: 'attached' })
  const menu = await page.locator('nav a').evaluateAll((links) => links.map((link) => link.getAttribute('href')?.slice('#/'.length) ?? ''))
  t.ok(menu.includes('system'), 'the menu has all pages')
  const others = menu.filter((path) => !pages.some(([known]) => known.split('?')[0] === path))
  for (const [path, part] of [...pages, ...others.map((path) => [path, 'main .panel'] as const)]) {
    await page.goto(`${url}/#/${path}`)
    await page.locator(part).first().waitFor()
    await assertAccessible(t, page, path)
  }
  t.equal(await page.evaluate('window.ran'), undefined)
})
