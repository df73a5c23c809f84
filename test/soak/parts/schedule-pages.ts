import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import { undoing } from '../../bench/report/undo.ts'
import { corpusCache, installPackages } from '../../gallery/corpus/packages.ts'
import { pages } from '../../gallery/corpus/pages.ts'
import { openCorpusSite } from '../../gallery/corpus/site.ts'
import { ACCOUNT, startScheduleStage } from '../../integration/schedules/stage.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { openChangingSite } from '../stage/changing-site.ts'
import { type CleanupStack, newCleanupStack } from '../stage/ends.ts'

const PAGES = 30
const RUNS = 10
/** In CSS pixels from the top left corner of the window. */
const BOX = { left: 40, top: 40, width: 120, height: 80 }
const CHANGE = `<div style="position:fixed;left:${BOX.left}px;top:${BOX.top}px;width:${BOX.width}px;height:${BOX.height}px;background:#d00;z-index:2147483647"></div>`
const RED = 230

/** Scheduled captures of pages of the corpus, by a real browser. */
export const schedulePages: Part = {
  name: 'schedule-pages',
  shows: '300 scheduled captures of 30 corpus pages raise no alarm, and 30 injected changes are reported once each',
  run: (context) => {
    const ends = newCleanupStack()
    return undoing(ends.endAll, () => run(ends, context))
  },
}

async function run(ends: CleanupStack, { progress }: PartContext): Promise<PartResult> {
  await installPackages(progress)
  const still = pages.filter(({ moves }) => !moves)
  const chosen = Array.from({ length: PAGES }, (_, place) => still[Math.floor((place * still.length) / PAGES)]!)
  const corpus = await openCorpusSite(corpusCache)
  ends.teardown(corpus.close)
  const site = await openChangingSite(corpus, chosen)
  ends.teardown(site.close)
  const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
  ends.teardown(() => names.close())
  const stage = await startScheduleStage(ends, {}, { guard: { dnsServers: [names.address] } })
  const wanted = chosen.map(({ name }) => name)
  for (const page of chosen)
    await stage.create(page.name, {
      url: site.urlOf(page),
      comparison: {},
      template: { url: '', options: { viewportWidth: 1280, viewportHeight: 800 } },
    })

  const failed: string[] = []
  const once = async (what: string): Promise<Map<string, Screenshot>> => {
    const runs = await stage.runOnce(wanted)
    for (const [name, { status }] of runs)
      if (status?.phase !== 'Completed') failed.push(`${name}: ${status?.result?.error?.code} (${status?.result?.error?.message})`)
    for (const { schedule, error } of stage.failures.splice(0)) progress(`${schedule} failed: ${error.message}: ${error.cause ?? ''}`)
    progress(`${what}: ${isChanged(runs).length} changed`)
    return runs
  }
  const alarms: string[] = []
  let before = new Map<string, Screenshot>()
  for (let n = 1; n <= RUNS; n++) {
    const runs = await once(`run ${n} of ${RUNS}`)
    for (const name of isChanged(runs)) {
      const { comparison, warnings = [] } = runs.get(name)?.status?.result ?? {}
      alarms.push(`${name} in run ${n}: ${comparison?.changedPixels} pixels${warnings.map((warning) => `, ${warning}`).join('')}`)
      const directory = await keepPictures(`${name}-${n}`, before.get(name), runs.get(name)!, stage.readObject)
      progress(`pictures of ${name} are in ${directory}`)
    }
    before = runs
  }
  for (const page of chosen) site.change(page, CHANGE)
  const changed = await once('after the changes')
  const shown = await Promise.all(wanted.map((name) => showsChange(changed.get(name)!, stage.readObject)))
  const again = isChanged(await once('once more'))
  const events = wanted.map((name) => stage.eventsOf(name, 'Changed').length)
  return {
    findings: [
      holds(`${PAGES * RUNS} captures of ${PAGES} pages completed`, failed.length === 0, failed.join(', ') || 'all'),
      holds('pages that did not change raised no alarm', alarms.length === 0, alarms.join(', ') || 'none'),
      holds(`each of ${PAGES} changes was reported`, isChanged(changed).length === PAGES, String(isChanged(changed).length)),
      holds('each has a picture that shows the change in red', shown.every(Boolean), `${shown.filter(Boolean).length} of ${PAGES}`),
      holds(
        'each is one Event, and is not reported again',
        again.length === 0 && events.every((count) => count === 1),
        `${again.length} again`,
      ),
    ],
  }
}

const isChanged = (runs: Map<string, Screenshot>): string[] =>
  [...runs].filter(([, { status }]) => status?.result?.comparison?.changed).map(([name]) => name)

/** Writes the pictures of a false alarm to a directory, for the person who looks for its cause. Returns the directory. */
async function keepPictures(
  name: string,
  before: Screenshot | undefined,
  after: Screenshot,
  readObject: (key: string) => Promise<Buffer>,
): Promise<string> {
  const directory = path.join(tmpdir(), 'tintype-alarms', name)
  await mkdir(directory, { recursive: true })
  const keep = async (shot: Screenshot, file: string, as: string) =>
    writeFile(path.join(directory, as), await readObject(objectKey(ACCOUNT, screenshotIdOf(shot.metadata), file)))
  if (before) await keep(before, 'png', 'before.png')
  await keep(after, 'png', 'after.png')
  await keep(after, 'diff.png', 'differences.png')
  return directory
}

/** Whether most of the added box is red in the picture of the differences. */
async function showsChange(shot: Screenshot, readObject: (key: string) => Promise<Buffer>): Promise<boolean> {
  if (!shot.status?.result?.comparison?.changed) return false
  const diff = await readObject(objectKey(ACCOUNT, screenshotIdOf(shot.metadata), 'diff.png'))
  const pixels = await sharp(diff).removeAlpha().extract(BOX).raw().toBuffer()
  const red = pixels.filter((value, index) => index % 3 === 0 && value === RED && pixels[index + 1] === 0).length
  return red > (BOX.width * BOX.height) / 2
}
