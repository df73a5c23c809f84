import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import sharp from 'sharp'
import { capture } from '../../../capture-runner/src/capture/capture.ts'
import { createMemoryWatch } from '../../../capture-runner/src/runtime/memory-watch.ts'
import { type CaptureOrder, CaptureOrder as OrderSchema } from '../../../crds/src/dispatch/dispatch.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import type { Comparison, MovingParts, PictureBox } from '../../../crds/src/kinds/comparison.ts'
import type { CaptureResult } from '../../../crds/src/kinds/screenshot.ts'
import { artifactsOf } from '../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { type Pages, servePages } from '../../integration/capture-runner/stage/page-server.ts'
import { LOOPBACK_POLICY, openStudio } from '../../integration/capture-runner/stage/studio.ts'
import type { Ends } from '../../support/processes/own-plane.ts'
import { serve as serveOn } from '../../support/servers/serve.ts'
import { type Report, type Stage, scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { CHANGES, type Change, changingPage, FORMS, type Form } from './changing-page.ts'
import { ENDLESS_PAGES, UNCHANGING_PAGES, type UnchangingPage } from './unchanging-pages.ts'

/** Pixels by which a region may be outside of the place that changed: antialiasing, the overhang of letters, and the blocks of a lossy picture. */
const [MARGIN, LOSSY_MARGIN] = [2, 16]
/** Share of the page that a region must cover if the page changed as a whole. */
const WHOLE = 0.8
const BUSY_LOOPS = 4
const MAX_SECOND_RUN_SECONDS = 5

interface Lab {
  runner: Awaited<ReturnType<typeof openLocalRunner>>
  store: MemoryStore
  /** Serves a page at a path. Returns its URL. */
  serve: (path: string, html: string) => string
}

async function openLab(ends: Ends): Promise<Lab> {
  const pages: Pages = {
    '/picture': servePicture,
    '/part': (_, response) => void response.end('part '.repeat(8)),
    '/stream': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const timer = setInterval(() => response.write(`data: ${Date.now()}\n\n`), 100)
      response.once('close', () => clearInterval(timer))
    },
  }
  const store = await openMemoryStore(ends)
  const site = await servePages(pages)
  ends.teardown(site.close)
  const runner = await openLocalRunner(store)
  ends.teardown(runner.close)
  const serve = (path: string, html: string) => {
    pages[path] = html
    return site.url(path)
  }
  return { runner, store, serve }
}

const lab: Stage<Lab> = { name: 'engine', open: openLab, about: () => 'the store is in memory' }

type Section = (report: Report, lab: Lab, rounds: number) => Promise<void>

const SECTIONS: Readonly<Record<string, Section>> = {
  ...Object.fromEntries(FORMS.map((form): [string, Section] => [form.chapter, (report, lab) => findSmallChanges(report, lab, form)])),
  unchanging: watchUnchanging,
  endless: runEndless,
}

/** Comparisons of captures by a real browser: small changes, and pages that do not change. */
export const comparisons = scenario({
  name: 'comparisons',
  shows: 'small changes are reported at the right place, and pages that do not change raise no alarm',
  stage: lab,
  options: { chapter: undefined, rounds: 9 },
  run: async ({ stage, settings: { chapter, rounds }, ...report }) => {
    for (const [name, section] of Object.entries(SECTIONS))
      if (chapter?.split(',').includes(name) ?? true) await section(report, stage, rounds)
  },
})

/** An image that comes after a random time. */
const servePicture: Extract<Pages[string], (...args: never[]) => unknown> = async (request, response) => {
  const hue = Number(new URL(request.url ?? '/', 'http://pages').searchParams.get('hue'))
  const background = { r: (hue * 7) % 256, g: (hue * 3) % 256, b: 120 }
  const picture = await sharp({ create: { width: 150, height: 100, channels: 3, background } })
    .png()
    .toBuffer()
  await sleep(50 + Math.random() * 350)
  response.writeHead(200, { 'content-type': 'image/png' }).end(picture)
}

/** Formats of a form: the two usual ones, and all of them for the smallest pictures. */
const formatsOf = (form: Form) => (form === FORMS[0] ? (['png', 'jpeg', 'webp', 'avif'] as const) : (['png', 'jpeg'] as const))

/** Makes each change on a form, in each format. */
async function findSmallChanges({ progress, ...report }: Report, { runner, store, serve }: Lab, form: Form): Promise<void> {
  const rows: string[][] = []
  const [missed, misplaced]: [string[], string[]] = [[], []]
  let count = 0
  for (const format of formatsOf(form)) {
    const options: CaptureOptions = { ...form.options, format }
    const before = await runner.shoot(serve('/before', changingPage(form, [])), { options })
    let [found, right] = [0, 0]
    for (const [index, change] of CHANGES.entries()) {
      const what = `${change.name}, ${form.name}, ${format}`
      const { id, result } = await runner.shoot(serve('/after', changingPage(form, [index], index)), { options, to: before })
      store.remove(id)
      count++
      const { comparison } = result
      if (!comparison?.changed) {
        missed.push(what)
        progress(`missed: ${what}: ${JSON.stringify(comparison)} ${JSON.stringify(result.warnings)}`)
        continue
      }
      found++
      const place = JSON.parse(result.pageTitle ?? '[]') as [number, number, number, number]
      if (isRightPlace(comparison, change, { place, form, isLossy: format !== 'png' })) right++
      else {
        misplaced.push(what)
        progress(`misplaced: ${what}: ${JSON.stringify(comparison.regions)} instead of ${JSON.stringify(place)} × ${form.scale}`)
      }
    }
    store.remove(before.id)
    progress(`${form.name}, ${format}: ${found} of ${CHANGES.length} changes reported, ${right} at the right place`)
    rows.push([form.name, format, `${found} of ${CHANGES.length}`, String(right)])
  }
  report.table({ title: `Small changes, ${form.name}`, head: ['picture', 'format', 'reported', 'at the right place'], rows })
  report.holds(`${form.name}: each of ${count} small changes is reported`, missed.length === 0, missed.join('; ') || 'all')
  report.holds(`${form.name}: regions of the changes are right`, misplaced.length === 0, misplaced.join('; ') || 'all')
}

interface Expected {
  place: [number, number, number, number]
  form: Form
  isLossy: boolean
}

function isRightPlace({ regions = [] }: Comparison, { body }: Change, { place, form, isLossy }: Expected): boolean {
  const { scale, options, height } = form
  if (body) {
    const area = regions.reduce((sum, region) => sum + region.width * region.height, 0)
    return area >= WHOLE * (options.viewportWidth ?? 0) * height * scale ** 2
  }
  const margin = MARGIN * scale + (isLossy ? LOSSY_MARGIN : 0)
  const [x, y, width, high] = place.map((side) => side * scale) as [number, number, number, number]
  const isInside = (region: PictureBox): boolean =>
    region.x >= x - margin &&
    region.y >= y - margin &&
    region.x + region.width <= x + width + margin &&
    region.y + region.height <= y + high + margin
  return regions.length > 0 && regions.every(isInside)
}

/** Runs schedules of pages that do not change, first on a quiet machine, then beside busy loops. */
async function watchUnchanging({ holds, progress }: Report, lab: Lab, rounds: number): Promise<void> {
  const schedules = UNCHANGING_PAGES.map((page, index) => new Watched(page, index % 2 === 0, lab))
  const alarms: string[] = []
  let captures = 0
  const loops = new AbortController()
  try {
    for (let round = 0; round <= rounds; round++) {
      const isBusy = round > rounds / 2
      if (isBusy && round - 1 <= rounds / 2) startBusyLoops(loops.signal)
      for (const schedule of schedules) {
        captures++
        const alarm = await schedule.run()
        if (!alarm) continue
        alarms.push(`${schedule.page.name}, ${isBusy ? 'busy' : 'quiet'}`)
        progress(`alarm: ${alarms.at(-1)}: ${alarm}`)
      }
      progress(`round ${round} of ${rounds}${isBusy ? ', busy' : ''}: ${alarms.length} alarms in ${captures} captures`)
    }
  } finally {
    loops.abort()
  }
  const shows = `${captures} captures of ${schedules.length} pages that do not change raise no alarm`
  holds(shows, alarms.length === 0, alarms.join('; ') || '0 alarms')
}

/** A schedule that watches a page. */
class Watched {
  readonly page: UnchangingPage
  readonly #url: string
  readonly #isPrevious: boolean
  readonly #lab: Pick<Lab, 'runner' | 'store'>
  #to: Shot | undefined
  #moving: MovingParts | undefined

  /** @param isPrevious the baseline is the run before; otherwise the first run */
  constructor(page: UnchangingPage, isPrevious: boolean, { serve, ...lab }: Lab) {
    this.page = page
    this.#isPrevious = isPrevious
    this.#lab = lab
    this.#url = serve(`/${encodeURIComponent(page.name)}`, page.html)
  }

  /** Captures the page. Returns what was wrong. */
  async run(): Promise<string | undefined> {
    const { runner, store } = this.#lab
    const shot = await runner.shoot(this.#url, { options: this.page.options, to: this.#to, moving: this.#moving })
    const { comparison, moving, unfit, warnings } = shot.result
    this.#moving = moving
    const to = this.#to
    if (!to || this.#isPrevious) {
      if (to) store.remove(to.id)
      this.#to = shot
    } else store.remove(shot.id)
    if (unfit) return unfit
    return comparison?.changed ? JSON.stringify({ comparison, warnings }) : undefined
  }
}

/** Occupies the processors until the signal aborts. */
function startBusyLoops(signal: AbortSignal): void {
  for (let n = 0; n < BUSY_LOOPS; n++) {
    const loop = spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' })
    signal.addEventListener('abort', () => loop.kill('SIGKILL'), { once: true })
  }
}

/** Runs schedules of pages that never rest, twice. */
async function runEndless({ progress, ...report }: Report, { runner, serve }: Lab): Promise<void> {
  const rows: string[][] = []
  let slowest = 0
  for (const [name, html] of Object.entries(ENDLESS_PAGES)) {
    const url = serve(`/${encodeURIComponent(name)}`, html)
    const first = await runner.shoot(url)
    const runs: Shot[] = [first]
    // The first run that is compared learns what moves.
    for (let run = 0; run < 3; run++) {
      const before = runs.at(-1)!
      runs.push(await runner.shoot(url, { to: before, moving: before.result.moving }))
    }
    const seconds = runs.map(({ result }) => (result.processingMilliseconds ?? 0) / 1_000)
    slowest = Math.max(slowest, ...seconds.slice(2))
    progress(
      `${name}: ${seconds.map((second) => second.toFixed(1)).join(', ')} s; ${JSON.stringify(runs.map(({ result }) => result.moving))}`,
    )
    rows.push([name, ...seconds.map((second) => second.toFixed(1)), median(seconds.slice(2)).toFixed(1)])
  }
  report.table({ title: 'Pages that never rest (seconds)', head: ['page', 'first', 'compared', 'second', 'third', 'median'], rows })
  report.atMost('run after the first compared one, of a page that never rests', slowest, MAX_SECOND_RUN_SECONDS, 's', 1)
}

// Captures and compares as a runner does, from the order to the stored files, with a real browser and a store in memory.

const CAPTURE_MILLISECONDS = 90_000
const MAX_BYTES = 100_000_000

/** A capture that completed. */
export interface Shot {
  id: string
  result: CaptureResult
}

interface ShotOptions {
  options?: CaptureOptions
  /** The capture to compare with. */
  to?: Shot | undefined
  /** What the earlier run of the schedule learned. */
  moving?: CaptureOrder['moving']
}

/** Files by their path. It must outlive the runners that use it. */
async function openMemoryStore(ends: Ends) {
  const files = new Map<string, Buffer>()
  const url = await serveOn(ends, async (request, response) => {
    const path = request.url ?? ''
    if (request.method === 'PUT') files.set(path, await buffer(request))
    const file = files.get(path)
    const etag = createHash('md5')
      .update(file ?? '')
      .digest('hex')
    response.writeHead(file ? 200 : 404, { etag: `"${etag}"` }).end(request.method === 'GET' ? file : undefined)
  })
  return {
    targetOf: (name: string) => ({ url: `${url}/${name}`, headers: {}, maxBytes: MAX_BYTES }),
    remove: (prefix: string) => {
      for (const path of files.keys()) if (path.startsWith(`/${prefix}`)) files.delete(path)
    },
  }
}

type MemoryStore = Awaited<ReturnType<typeof openMemoryStore>>

/** Starts the browsers. */
async function openLocalRunner(store: MemoryStore) {
  const studio = await openStudio()
  const memory = createMemoryWatch({ limitBytes: undefined, log: pino({ level: 'silent' }) })
  const parts = { browsers: studio.browsers, policy: LOOPBACK_POLICY, memory, httpCache: studio.httpCache }
  return {
    close: studio.close,
    /** Captures a page. @throws Error if the capture fails */
    shoot: async (url: string, { options = {}, to, moving }: ShotOptions = {}): Promise<Shot> => {
      const id = newId('scr', new Date())
      // As the runs of a schedule: the first one stores its text, and later ones compare theirs.
      const chosen: CaptureOptions = { ...options, ...(to ? { compareTo: to.id } : { saveText: true }) }
      const order: CaptureOrder = OrderSchema.parse({
        ...{ uid: id, name: id, namespace: 'default', accountName: 'default', attempt: 1, url, options: chosen },
        upload: store.targetOf(`${id}.picture`),
        artifacts: artifactsOf(chosen).map(({ type, extension }) => ({ type, upload: store.targetOf(`${id}.${extension}`) })),
        ...(to ? { baseline: baselineOf(store, to) } : {}),
        isWatched: true,
        ...(moving ? { moving } : {}),
        deadline: Date.now() + CAPTURE_MILLISECONDS,
      })
      const { outcome, error } = await capture(order, parts, AbortSignal.timeout(CAPTURE_MILLISECONDS))
      if (error) throw new Error(`${url}: ${error.message}`, { cause: error })
      return { id, result: outcome.result }
    },
  }
}

function baselineOf(store: MemoryStore, { id, result }: Shot): CaptureOrder['baseline'] {
  const { ignored, finalUrl, forms, engine } = result
  return { ...store.targetOf(`${id}.picture`), ignored, finalUrl, forms, engine, text: store.targetOf(`${id}.txt`) }
}
