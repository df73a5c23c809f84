import t from 'tap'
import { toId } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { choose } from '../../support/length.ts'
import { call } from '../api-gateway/client.ts'
import { complete } from '../api-gateway/runner-role.ts'
import { endEach } from '../links/stage.ts'
import { findViolations, overflowOf, type Stage, signIn, startStage, visit } from './stage.ts'

// Videos in the console: recorded from the playground, played, listed and deleted.

const stage = await startStage(t)
const { world, gateways, key } = stage
const [{ url }] = gateways

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

const clip = await makeClip(stage)
const facts = { width: 320, height: 240, durationMilliseconds: 600, fps: 25, frames: 15 }

t.test('a video is recorded in the playground, plays, and can be deleted', async (t) => {
  endEach(t, world, (shot) => complete(toId(shot.metadata.name), clip, world, facts))
  const seen = await visit(t, stage)
  const { page, complaints } = seen
  await signIn(seen, url, key)
  await page.goto(`${url}/#/videos`)
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
  const [shot] = await world.screenshots.listAll()
  t.match(shot?.spec.options, { format: 'webm', videoDuration: 1 })
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

for (const colorScheme of choose(['light', 'dark'] as const, (scheme) => scheme === 'light')) {
  t.test(`the pages of videos are accessible and fit a telephone, ${colorScheme}`, async (t) => {
    const { body } = await call(`${url}/v1/videos`, {
      method: 'POST',
      key,
      body: { url: 'https://example.com/', options: { format: 'webm' } },
    })
    await complete(body.id, clip, world, { ...facts, pageTitle: '<img src=x onerror="window.ran=1">' })
    const seen = await visit(t, stage, { width: 360, colorScheme })
    const { page } = seen
    await signIn(seen, url, key)
    for (const [path, part] of [
      ['videos', '.card'],
      [`videos/${body.id}`, 'video'],
      ['playground?format=mp4', 'text=video_scroll_duration'],
    ] as const) {
      await page.goto(`${url}/#/${path}`)
      await page.locator(part).first().waitFor()
      t.strictSame(await findViolations(page), [], path)
      t.equal(await overflowOf(page), 0, path)
    }
    t.equal(await page.evaluate('window.ran'), undefined)
    await call(`${url}/v1/videos/${body.id}`, { method: 'DELETE', key })
  })
}
