import t from 'tap'
import { screenshotSchedules } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import { Annotation, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { CaptureResult, Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import type { StoredRun } from '../../../crds/src/records/run.ts'
import { runKey } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { call } from '../api-gateway/client.ts'
import { complete } from '../api-gateway/runner-role.ts'
import { endEach } from '../links/stage.ts'
import { assertAccessible, openConsole, startStage } from './stage.ts'

// Schedules in the console. The test ends runs in the role of the runner, and records them as the operator does.

const stage = await startStage(t)
const { world, gateways, key, picture } = stage
const [{ url }] = gateways
const http = new KubeHttp(await accessPlane(world.plane.kubeconfigPath))
t.teardown(() => http.close())
const schedules = new Resource(http, screenshotSchedules)

/** Ends a run, and stores it among the runs of its schedule. */
async function endRun({ metadata, spec }: Screenshot, more: Partial<CaptureResult> = {}): Promise<void> {
  const id = screenshotIdOf(metadata)
  await complete(id, picture, world, { width: 1280, height: 800, ...more })
  const { uid = '', time = '' } = spec.scheduleRef ?? {}
  const run: StoredRun = { version: 1, id, time, outcome: 'completed', completionTime: new Date().toISOString() }
  const text = JSON.stringify(run)
  await world.bucket.putObject('tintype', runKey('acme', uid, id), text, text.length)
}

t.test('a schedule is created with its next times, run, suspended, changed and deleted', async (t) => {
  endEach(t, world, (shot) => endRun(shot))
  const { page, complaints } = await openConsole(t, stage, { path: 'schedules' })
  await page.getByText('No schedules yet').waitFor()
  await page.getByRole('link', { name: 'New schedule' }).click()
  const create = page.getByRole('button', { name: 'Create schedule' })
  t.ok(await create.isDisabled(), 'a schedule needs a URL')
  await page.getByLabel('Page', { exact: true }).fill('https://example.com/')
  await page.getByLabel('Name').fill('home page')
  await page.getByLabel('Cron expression').fill('0 25 * * *')
  await page.getByText('the hour 25 is not valid').waitFor()
  t.ok(await create.isDisabled())
  await page.getByLabel('Cron expression').fill('30 9 * * MON')
  await page.getByLabel('Time zone').fill('Asia/Tokyo')
  t.equal(await page.getByRole('region', { name: 'Next times' }).getByRole('listitem').count(), 5)
  t.match(await page.getByRole('region', { name: 'Next times' }).textContent(), /Next times in Asia\/Tokyo.*Mon, .*09:30/)
  await page.getByLabel('full_page', { exact: true }).selectOption('true')
  await create.click()
  await page.getByRole('heading', { name: 'home page' }).waitFor()

  const [made] = await schedules.listAll()
  t.match(made?.spec, {
    ...{ name: 'home page', schedule: '30 9 * * MON', timeZone: 'Asia/Tokyo', accountName: 'acme' },
    template: { url: 'https://example.com/', options: { fullPage: true } },
  })
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.locator('.runs img').waitFor()
  await page.getByRole('button', { name: 'Suspend' }).click()
  await page.getByText('Suspended', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Common times').selectOption({ label: 'Every hour' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('@hourly').waitFor()
  const changed = await schedules.get(made?.metadata.name ?? '')
  t.match(changed.spec, { schedule: '@hourly', suspend: true, timeZone: 'Asia/Tokyo', template: { options: { fullPage: true } } })

  // The run is an ordinary screenshot.
  await page.locator('.runs a').click()
  await page.getByRole('img', { name: 'Capture of https://example.com/' }).waitFor()
  await page.getByRole('link', { name: /^sch_/ }).click()
  await page.getByRole('heading', { name: 'home page' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No schedules yet').waitFor()
  t.strictSame(await schedules.listAll(), [])
  t.strictSame(complaints, [])
})

t.test('a change in the form keeps options that the service does not show, and the form removes them when asked', async (t) => {
  const { body } = await call(`${url}/v1/schedules`, {
    ...{ method: 'POST', key },
    body: { name: 'hidden', schedule: '0 9 * * *', url: 'https://example.com/', options: { authorization: 'secret', full_page: true } },
  })
  const { id } = body.data
  const stored = async () => (await schedules.listAll()).find(({ spec }) => spec.name === 'hidden')?.spec.template
  const before = await stored()
  const { page, complaints } = await openConsole(t, stage, { path: `schedules/${id}/edit` })
  await page.getByText('Records do not show authorization.').waitFor()
  await page.getByLabel('dark_mode', { exact: true }).selectOption('true')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Times', exact: true }).waitFor()
  t.strictSame(await stored(), { ...before, options: { fullPage: true, darkMode: true } })
  await page.goto(`${url}/#/schedules/${id}/edit`)
  await page.getByLabel('Remove them, or replace them').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Times', exact: true }).waitFor()
  const { capturePolicy } = before!
  t.strictSame(await stored(), { url: 'https://example.com/', capturePolicy, options: { fullPage: true, darkMode: true } })
  t.strictSame(complaints, [])
  await call(`${url}/v1/schedules/${id}`, { method: 'DELETE', key })
})

t.test('a changed run is shown beside the approved one, and approved', async (t) => {
  const { body } = await call(`${url}/v1/schedules`, {
    ...{ method: 'POST', key },
    body: { name: 'watched', schedule: '0 9 * * *', url: 'https://example.com/', comparison: { baseline: 'approved', threshold: 0.01 } },
  })
  const { id } = body.data
  const runs: string[] = []
  for (const more of [{}, { comparison: { changed: true, changedRatio: 0.25, changedPixels: 256_000, sizeChanged: false, regions: [] } }]) {
    const run = await call(`${url}/v1/schedules/${id}/run`, { method: 'POST', key })
    runs.push(run.body.id)
    await endRun(await world.screenshots.get(toObjectName(run.body.id)), more)
  }
  const [before = '', after = ''] = runs
  const [schedule] = (await schedules.listAll()).filter(({ spec }) => spec.name === 'watched')
  const time = new Date(Date.now() - 60_000).toISOString()
  const status = {
    baseline: { id: before, time, key: `baselines/acme/${schedule?.metadata.uid}/${before}.png`, etag: '"x"' },
    lastComparison: { id: after, time, to: before, changed: true, changedRatio: 0.25, changedPixels: 256_000, sizeChanged: false },
  }
  const name = schedule?.metadata.name ?? ''
  await schedules.patch(name, mergePatch({ status }), { subresource: 'status' })
  const { page, complaints } = await openConsole(t, stage, { path: `schedules/${id}`, width: 360 })
  await page.getByText('25.0 %, ').first().waitFor()
  const approve = (kind: string) => page.locator(`button.${kind}`, { hasText: 'Approve the last run' }).first().waitFor()
  const showChange = (changed: boolean) =>
    schedules.patch(name, mergePatch({ status: { lastComparison: { changed } } }), { subresource: 'status' })
  await approve('primary')
  await assertAccessible(t, page, 'changed')
  await showChange(false)
  await approve('secondary')
  await showChange(true)
  await approve('primary')
  await page.getByRole('button', { name: 'Approve the last run' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve the last run' }).click()
  await eventually('the approval is requested', async () => {
    const { metadata } = await schedules.get(name)
    return metadata.annotations?.[Annotation.approve] === after
  })
  // As the operator applies it.
  const baseline = { ...status.baseline, id: after }
  const approvals = [
    {
      id: after,
      approvalTime: new Date().toISOString(),
      by: (await call(`${url}/v1/keys`, { key })).body.data[0].id,
      replaced: { id: before, time, etag: 'e' },
    },
  ]
  await schedules.patch(name, mergePatch({ status: { baseline, approvals } }), { subresource: 'status' })
  await page.getByText(`Run ${after} is approved. Later runs are compared with it.`).waitFor()
  await page
    .locator('.runs li', { has: page.locator(`a[href$="${after}"]`) })
    .getByText('Approved')
    .waitFor()
  await page.getByText(/^approved .* by Ada, replaced scr_/).waitFor()
  // Exactly one, of the other run.
  await page.getByRole('button', { name: /^Approve the run of/ }).waitFor()
  await assertAccessible(t, page, 'approved')
  await page.getByRole('button', { name: 'Undo the last approval' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo the last approval' }).click()
  await eventually('the undo is requested', async () => {
    const { metadata } = await schedules.get(name)
    return metadata.annotations?.[Annotation.approve]?.startsWith('undo/')
  })
  const undone = [{ ...approvals[0], undoneTime: new Date().toISOString() }]
  await schedules.patch(name, mergePatch({ status: { baseline: status.baseline, approvals: undone } }), { subresource: 'status' })
  await page.getByText('Approval undone. Later runs are compared with the picture from before.').waitFor()
  // The record of a run whose files have expired.
  const { body: record } = await call(`${url}/v1/screenshots/${after}`, { key })
  await page.route(`**/screenshots/${after}`, (route) => route.fulfill({ json: { ...record, download_url: null } }))
  await page.reload()
  await page.getByText('The picture is gone, so this run cannot be approved.').waitFor()
  t.strictSame(complaints, [])
  await call(`${url}/v1/schedules/${id}`, { method: 'DELETE', key })
})

t.test('texts of a schedule run nothing, and its pages are accessible and fit a telephone', async (t) => {
  endEach(t, world, (shot) => endRun(shot))
  const nasty = '<img src=x onerror="window.ran=1">'
  const { body } = await call(`${url}/v1/schedules`, {
    ...{ method: 'POST', key },
    body: { name: nasty, schedule: '0 9 * * *', url: `https://example.com/?${nasty}`, options: { user_agent: nasty } },
  })
  const { id } = body.data
  await call(`${url}/v1/schedules/${id}/run`, { method: 'POST', key })
  const { page, complaints } = await openConsole(t, stage, { width: 360 })
  for (const [path, part] of [
    ['schedules', 'td a'],
    [`schedules/${id}`, '.runs img'],
    [`schedules/${id}/edit`, '#schedule-name'],
    ['schedules/new', '#schedule-name'],
  ] as const) {
    await page.goto(`${url}/#/${path}`)
    await page.locator(part).first().waitFor()
    await assertAccessible(t, page, path)
    t.equal(await page.evaluate('window.ran'), undefined, path)
  }
  t.strictSame(complaints, [])
})

t.test('a key that may only read schedules sees no buttons', async (t) => {
  const reader = await world.createKey({ accountName: 'acme', scopes: ['schedules:read', 'screenshots:read'] })
  const { page } = await openConsole(t, stage, { key: reader, path: 'schedules' })
  await page.locator('td a').first().click()
  await page.getByRole('heading', { name: 'Times' }).waitFor()
  for (const name of ['Run now', 'Suspend', 'Delete']) t.equal(await page.getByRole('button', { name }).count(), 0, name)
  await eventually('the runs are shown', async () => (await page.locator('.runs img').count()) > 0)
})
