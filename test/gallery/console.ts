import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { firstPage, repository } from '../cluster/host/state.ts'
import { consoleLink } from '../cluster/release/first-capture.ts'
import { openStudio, type Studio } from '../integration/capture-runner/stage/studio.ts'
import { call, finished } from '../support/cluster/api-client.ts'
import { cluster } from '../support/cluster/environment.ts'
import { finishedVideo } from '../support/cluster/videos.ts'
import { writeReport } from './report.ts'

// Pictures of every page of the web console of the running cluster, light and dark. Each is a capture with the code of the runner, which signs in
// with a link of its own.

/** A page of the console. */
interface Scene {
  name: string
  /** After `#/`. */
  path: string
  /** What the page shows when it is ready. */
  selector: string
  /** Runs in the page. */
  script?: string
}

/** Captures again, as a person would. */
const CAPTURE = `setInterval(() => {
  const button = document.querySelector('button.primary:not(:disabled)')
  if (!window.clicked && button && document.querySelector('#url')?.value.includes('cluster.local')) { window.clicked = true; button.click() }
}, 100)`

async function create(pathOfApi: string, body: object): Promise<string> {
  const { status, body: created } = await call<{ id?: string; data?: { id: string }; error?: unknown }>(`/api/v1${pathOfApi}`, {
    method: 'POST',
    body,
  })
  const id = created.id ?? created.data?.id
  if (id === undefined) throw new Error(`POST ${pathOfApi} responded with ${status}: ${JSON.stringify(created.error)}`)
  return id
}

const SCHEMES = ['light', 'dark']
const VIEWPORT = { viewport_width: 1280, viewport_height: 800 }

/** What the pages show: two pictures that are compared, a video, and a schedule with a run. Resolves to the pages, and to what removes it. */
async function prepare(): Promise<{ scenes: Scene[]; clear: () => Promise<void> }> {
  const created: string[] = []
  const make = async (collection: 'screenshots' | 'videos' | 'schedules', body: object): Promise<string> => {
    const id = await create(`/${collection}`, body)
    created.push(`/api/v1/${collection}/${id}`)
    return id
  }
  const options = { ...VIEWPORT, thumbnail_width: 320, thumbnail_height: 240, metadata_timings: true }
  const before = await make('screenshots', { url: firstPage, options })
  await finished(before)
  const styles = 'h1, h2 { color: #0a7 !important } img { opacity: 0.2 }'
  const after = await make('screenshots', { url: firstPage, options: { ...options, styles, compare_to: before } })
  await finished(after)
  const scroll = { video_scenario: 'scroll', video_duration: 3, video_poster: true, viewport_width: 1280, viewport_height: 720 }
  const video = await make('videos', { url: firstPage, options: scroll })
  const schedule = await make('schedules', {
    ...{ name: 'handbook', url: firstPage, schedule: '0 9 * * MON-FRI', time_zone: 'Europe/Zurich' },
    options: VIEWPORT,
  })
  await finished(await create(`/schedules/${schedule}/run`, {}))
  await finishedVideo(video)
  const scenes: Scene[] = [
    { name: 'playground', path: `playground?from=${before}&of=screenshots`, selector: '.picture img', script: CAPTURE },
    { name: 'screenshots', path: 'screenshots', selector: '.card img' },
    { name: 'comparison', path: `screenshots/${after}`, selector: '.overlay img' },
    { name: 'videos', path: 'videos', selector: '.card' },
    { name: 'video', path: `videos/${video}`, selector: 'video' },
    { name: 'schedules', path: 'schedules', selector: 'td' },
    { name: 'schedule', path: `schedules/${schedule}`, selector: '.runs img' },
    { name: 'schedule-form', path: `schedules/${schedule}/edit`, selector: '#schedule-url' },
    { name: 'webhooks', path: 'webhooks', selector: '#webhook-name' },
    { name: 'keys', path: 'keys', selector: 'main table' },
    { name: 'usage', path: 'usage', selector: '.quota' },
  ]
  const clear = async () => {
    for (const url of created) await call(url, { method: 'DELETE' })
  }
  return { scenes, clear }
}

async function shoot(studio: Studio, { path: page, selector, script = '' }: Scene, darkMode: boolean): Promise<Buffer> {
  // The link signs in after a click on the button, which is enabled after half a second.
  const scripts = `(function open() {
    const button = document.querySelector('.sign-in button.primary:enabled')
    if (!button) return setTimeout(open, 50)
    button.click()
    location.hash = '#/${page}'
    ${script}
  })()`
  const { picture } = await studio.shoot(await consoleLink(cluster), {
    ...{ darkMode, scripts, viewportWidth: 1280, viewportHeight: 860, format: 'webp', imageQuality: 85 },
    // Pictures in the page are drawn after their part of the page.
    ...{ waitForSelector: selector, delay: 1_500 },
  })
  return picture
}

/** Writes the pictures and a page with all of them. Resolves to the path of that page. */
export async function captureConsole(only: readonly string[] | undefined): Promise<string> {
  const to = path.join(repository, '.tintype/gallery/console')
  if (!only) await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const { scenes, clear } = await prepare()
  const studio = await openStudio()
  try {
    for (const scene of scenes.filter(({ name }) => only?.includes(name) ?? true)) {
      for (const scheme of SCHEMES)
        await writeFile(path.join(to, `${scene.name}-${scheme}.webp`), await shoot(studio, scene, scheme === 'dark'))
      process.stdout.write(`${scene.name}\n`)
    }
  } finally {
    await studio.close()
    await clear()
  }
  const pictures = ({ name }: Scene) => Object.fromEntries(SCHEMES.map((scheme) => [scheme, `${name}-${scheme}.webp`]))
  return writeReport(
    to,
    'Web console',
    scenes.map((scene) => ({ title: scene.name, pictures: pictures(scene) })),
  )
}
