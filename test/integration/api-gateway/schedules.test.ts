import t from 'tap'
import { screenshotSchedules } from '../../../crds/client/kinds.ts'
import { mergePatch, type NewObject, Resource } from '../../../crds/client/resource.ts'
import { toId, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../crds/src/kinds/screenshot-schedule.ts'
import { DEFAULT_OPTION_POLICY } from '../../../crds/src/options/policy.ts'
import type { Whole } from '../../../crds/src/schema/custom-resource.ts'
import { openOptions } from '../../../operator/src/controllers/screenshot/open-options.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from './client.ts'
import { startStage } from './deliveries-stage.ts'
import { complete, fail } from './runner-role.ts'

// Schedules over REST, with a real API server, store, gateway and operator. The tests complete captures in the role of the runner.

const { world, http, key, gateway, startOperator } = await startStage(t)
await startOperator()
const schedules = new Resource(http, screenshotSchedules)

const url = 'https://example.com/'
/** Not due during the tests. */
const rare = { schedule: '0 0 1 1 *', url }
const SECRET = 'Zq7planted7Secret'

const rest = (method: string, path: string, body?: unknown) =>
  call(`${gateway.url}/v1${path}`, { method, key, ...(body === undefined ? {} : { body }) })

async function create(body: object = rare): Promise<string> {
  const created = await rest('POST', '/schedules', body)
  t.equal(created.status, 201, JSON.stringify(created.body))
  return created.body.data.id
}

/** Waits until the record of a schedule meets a condition. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of any shape
const whenShown = (id: string, isRight: (data: any) => boolean): Promise<any> =>
  eventually('the schedule has the state', async () => {
    const { data } = (await rest('GET', `/schedules/${id}`)).body
    return isRight(data) && data
  })

/** What a runner would get. */
const { TINTYPE_STORAGE_ENDPOINT: endpoint = '', TINTYPE_STORAGE_ACCESS_KEY: accessKey = '' } = world.operatorStorage
const storage = openStorage({
  ...{ endpoint, accessKey, secretKey: world.operatorStorage.TINTYPE_STORAGE_SECRET_KEY ?? '', region: 'us-east-1', bucket: 'tintype' },
})
const open = (shot: Screenshot) =>
  openOptions(shot as Whole<Screenshot>, {
    keys: { openingKeys: world.openingKeys },
    clients: { secrets: { find: async () => undefined } },
    storage,
    report: ({ reason, key: object }) => t.fail(`${reason} ${object}`),
    config: { optionPolicy: DEFAULT_OPTION_POLICY },
  })

t.test('a run that a client starts is charged once, shown as active, and listed when it has ended', async (t) => {
  const id = await create()
  const used = async () => (await rest('GET', '/usage/current')).body.data.count
  const before = await used()
  const started = await rest('POST', `/schedules/${id}/run`)
  t.match(started, { status: 202, body: { url, status: 'pending' } })
  const second = (await rest('POST', `/schedules/${id}/run`)).body.id
  t.equal(await used(), before + 2)
  await whenShown(id, ({ active_runs: active }) => active.length === 2)
  await complete(started.body.id, Buffer.from('a picture'), world)
  await fail(second, { code: 'TIMEOUT', message: 'the page did not load' }, world)
  const shown = await whenShown(id, ({ active_runs: active, recent_runs: recent }) => active.length === 0 && recent.length === 2)
  const { body } = await rest('GET', `/schedules/${id}/runs`)
  t.strictSame(body.data, shown.recent_runs)
  t.match(body.data, [
    { id: second, status: 'failed', error_code: 'TIMEOUT' },
    { id: started.body.id, status: 'completed', error_code: null },
  ])
  t.equal((await rest('GET', `/screenshots/${started.body.id}`)).body.status, 'completed')
})

t.test('every run gets the private and large options, also after a change, and nobody else can read them', async (t) => {
  const styles = 'p{}'.repeat(4_000)
  const id = await create({ ...rare, options: { authorization: SECRET, styles, full_page: true } })
  const name = toObjectName(id)
  const { body } = await rest('POST', `/schedules/${id}/run`)
  t.match(await open(await world.screenshots.get(toObjectName(body.id))), {
    options: { fullPage: true, styles },
    privateOptions: { authorization: SECRET },
  })
  t.notMatch(JSON.stringify(await schedules.get(name)), SECRET)
  t.equal((await rest('PATCH', `/schedules/${id}`, { options: { dark_mode: true, full_page: null } })).status, 200)
  const next = await rest('POST', `/schedules/${id}/run`)
  t.match(await open(await world.screenshots.get(toObjectName(next.body.id))), {
    options: { darkMode: true, styles },
    privateOptions: { authorization: SECRET },
  })
  await complete(next.body.id, Buffer.from('a picture'), world)
  const options = { authorization: null, styles: null, dark_mode: null, headers: { 'x-key': SECRET } }
  t.equal((await rest('PATCH', `/schedules/${id}`, { url: 'https://example.org/', options })).status, 200)
  // A run is due since January, and waits for the first one.
  await schedules.patch(name, mergePatch({ status: { lastScheduleTime: '2020-06-01T00:00:00Z' } }), { subresource: 'status' })
  await complete(body.id, Buffer.from('a picture'), world)
  const due = await eventually('the operator creates the run', async () =>
    (await world.screenshots.listAll()).find(({ spec }) => spec.scheduleRef?.name === name && spec.reservation === undefined),
  )
  t.equal(due.spec.url, 'https://example.org/')
  const opened = await open(due)
  t.strictSame(opened.privateOptions, { headers: { 'x-key': SECRET } })
  t.strictSame(opened.options ?? {}, {}, 'the large options were replaced')
})

t.test('an approved run is the one that later runs are compared with', async (t) => {
  const id = await create({ ...rare, comparison: { baseline: 'approved', threshold: 0.25, ignore: ['#clock'] } })
  const approve = (body?: object) => rest('POST', `/schedules/${id}/approve`, body)
  const capture = async (more: object = {}): Promise<string> => {
    const { body } = await rest('POST', `/schedules/${id}/run`)
    await complete(body.id, Buffer.from(`the picture of ${body.id}`), world, more)
    return body.id
  }
  const first = await capture()
  await whenShown(id, ({ comparison }) => comparison.waiting_run === first)
  t.match(await approve(), { status: 202, body: { data: { run_id: first } } })
  await whenShown(id, ({ comparison }) => comparison.baseline_run === first)
  const comparison = { changed: true, changedRatio: 0.5, changedPixels: 6, sizeChanged: false, regions: [] }
  const second = await capture({ comparison })
  const { spec } = await world.screenshots.get(toObjectName(second))
  t.match(spec, {
    options: { compareTo: first, compareThreshold: 0.25, compareIgnore: [{ selector: '#clock' }] },
    baseline: { key: /^baselines\/acme\// },
  })
  const shown = await whenShown(id, (data) => data.comparison.last?.id === second)
  t.match(shown.comparison, { baseline_run: first, last: { to: first, changed: true, changed_ratio: 0.5 } })
  t.match(shown.recent_runs, [
    { id: second, changed: true, changed_ratio: 0.5 },
    { id: first, changed: null },
  ])
  t.match((await rest('GET', `/schedules/${id}/runs`)).body.data, shown.recent_runs)
  t.match(await approve(), { status: 202, body: { data: { run_id: second } } })
  await whenShown(id, (data) => data.comparison.baseline_run === second)
  t.notHas((await schedules.get(toObjectName(id))).metadata.annotations ?? {}, 'tintype.dev/approve')
  const third = (await rest('POST', `/schedules/${id}/run`)).body.id
  t.equal((await world.screenshots.get(toObjectName(third))).spec.options?.compareTo, second)
})

t.test('a schedule that kubectl created with 300 KB of html, which the caches leave out, is shown, changed and run whole', async (t) => {
  const options = { html: `<!doctype html>${'<p>é</p>'.repeat(40_000)}`, darkMode: true }
  const { metadata } = await schedules.create({
    metadata: { name: 'large' },
    spec: { accountName: 'acme', schedule: rare.schedule, template: { url: 'about:html', options } },
  } as NewObject<ScreenshotSchedule>)
  const large = async () => (await rest('GET', '/schedules')).body.data.find(({ name }: { name: string }) => name === 'large')
  const listed = await eventually('the gateway lists it', large)
  t.strictSame(listed.options, { html: '…', dark_mode: true })
  const { id } = listed
  const shown = (await rest('GET', `/schedules/${id}`)).body.data.options
  t.ok(shown.html === options.html && shown.dark_mode === true, 'the schedule shows all of it')
  const runNow = async () => world.screenshots.get(toObjectName((await rest('POST', `/schedules/${id}/run`)).body.id))
  const run = await runNow()
  t.ok(run.spec.options?.html === options.html, 'the run has all of it')
  t.match(run.spec.scheduleRef, { name: 'large', uid: metadata.uid })
  const shots = (await rest('GET', '/screenshots?limit=100')).body.data
  t.match(shots.find((shot: { id: string }) => shot.id === toId(run.metadata.name)).options, {
    html: `${options.html.slice(0, 64)}…`,
    dark_mode: true,
  })
  t.equal((await rest('PATCH', `/schedules/${id}`, { name: 'renamed' })).status, 200)
  t.ok((await schedules.get('large')).spec.template.options?.html === options.html, 'a change of something else keeps it')
  t.equal((await rest('PATCH', `/schedules/${id}`, { options: { delay: 1 } })).status, 200)
  const { options: opened } = await open(await runNow())
  t.ok(opened?.html === options.html && opened.delay === 1 && opened.darkMode === true, 'a change of options moves it to the bucket')
})
