import t from 'tap'
import { unseal } from '../../../../../crds/src/crypto/sealed.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { ScreenshotSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { aGateway, NOW, OPENING_KEY } from '../../fakes.ts'

export const url = 'https://example.com/'
export const hourly = { schedule: '@hourly', url }
/** A time some minutes ago. */
export const at = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)

/** A gateway with schedules. */
export function aScheduleGateway(changes: Parameters<typeof aGateway>[0] = {}) {
  const gateway = aGateway(changes)
  const { schedules, objects, call } = gateway
  const newest = (): ScreenshotSchedule => schedules.objects.at(-1)!
  /** Creates a schedule by POST. Returns its id and its path. */
  const create = async (body: object = hourly) => {
    const created = await call('POST', '/schedules', body)
    t.equal(created.status, 201, JSON.stringify(created.body))
    const { id } = created.body.data as { id: string }
    const path = `/schedules/${id}`
    const patch = (change: object, headers?: Record<string, string>) => call('PATCH', path, change, headers)
    const get = async () => (await call('GET', path)).body.data
    return { id, path, patch, get }
  }
  /** Adds a schedule as kubectl creates it. */
  const add = (spec: Partial<ScreenshotSchedule['spec']> = {}) => {
    const id = newId('sch', NOW)
    const own = { namespace: 'default', uid: 'uid-1', resourceVersion: '1', creationTimestamp: NOW.toISOString() }
    const template = { url, options: { fullPage: true }, externalIdentifier: 'home' }
    const metadata = { name: id.replace('_', '-'), ...own }
    const schedule: ScreenshotSchedule = { metadata, spec: { accountName: 'acme', schedule: '@daily', template, ...spec } }
    return { id, path: `/schedules/${id}`, schedule: schedules.put(schedule) }
  }
  /** The options that are sealed in the newest schedule. */
  const openSealed = async (address = url) => {
    const { metadata, spec } = newest()
    const sealedFor = { purpose: 'options', subject: metadata.name, account: 'acme', url: address } as const
    return JSON.parse(await unseal(spec.template.sealedOptions!, sealedFor, [OPENING_KEY]))
  }
  /** The options of the newest schedule that are sealed in the bucket. */
  const openLarge = async () => {
    const { metadata, spec } = newest()
    const sealedFor = { purpose: 'large-options', subject: metadata.name, account: 'acme' } as const
    return JSON.parse(await unseal(objects.objects.get(spec.template.optionsObject!)!, sealedFor, [OPENING_KEY]))
  }
  return { ...gateway, newest, create, add, openSealed, openLarge }
}
