import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import t from 'tap'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { baselineKey, objectKey } from '../../../crds/src/records/storage-keys.ts'
import { openStorage } from '../../../crds/storage/open-storage.ts'
import { eventually } from '../../support/eventually.ts'
import { ACCOUNT, startScheduleStage } from './stage.ts'

// What scheduled runs are compared with, with a real API server, store and browser.

const document = (body: string): string => `<!doctype html><title>Page</title><body style="margin:0;background:#fff"><h1>Page</h1>${body}`
const square = (x: number): string =>
  document(`<div style="position:absolute;left:${x}px;top:200px;width:60px;height:60px;background:#d00"></div>`)
const pages: Record<string, string> = {}
const stage = await startScheduleStage(t, pages)
const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)

t.test('with Previous, each change is reported once, and its run is the next baseline', async (t) => {
  pages['/previous'] = square(100)
  const schedule = await stage.create('previous', { comparison: { threshold: 0.0005 } })
  const run = async () => (await stage.runOnce(['previous'])).get('previous')!
  const first = await run()
  t.equal(first.spec.options?.compareTo, undefined)
  t.match(await stage.statusOf('previous'), { baseline: { id: idOf(first) } })
  const same = await run()
  t.match(same.spec, { options: { compareTo: idOf(first), compareThreshold: 0.0005 }, baseline: { key: String } })
  t.match(same.status?.result?.comparison, { changed: false, changedPixels: 0 })
  pages['/previous'] = square(300)
  const changed = await run()
  t.match(changed.status?.result, { comparison: { changed: true, changedPixels: 7_200 }, artifacts: [{ type: 'diff' }] })
  t.match(await stage.statusOf('previous'), {
    baseline: { id: idOf(changed), key: baselineKey(ACCOUNT, schedule.metadata.uid, idOf(changed)) },
    lastComparison: { id: idOf(changed), to: idOf(same), changed: true, changedPixels: 7_200, sizeChanged: false },
    recentRuns: [{ id: idOf(changed), changed: true }, { changed: false }, { id: idOf(first) }],
  })
  t.match((await run()).status?.result?.comparison, { changed: false })
  const events = stage.eventsOf('previous', 'Changed')
  t.match(events, [{ type: 'Normal', message: `Run ${idOf(changed)} differs from run ${idOf(same)} in 3.0 % of the pixels.` }])
  t.equal(events.length, 1)
  t.equal((await stage.kept(schedule)).length, 1, 'only the present picture is kept')
})
