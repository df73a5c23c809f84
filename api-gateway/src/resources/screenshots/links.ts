import { MAX_PRESIGNED_SECONDS } from '@tintype/crds/crypto/presign'
import { expiryOf, type KeyRing, keptUntil, signLink } from '@tintype/crds/crypto/signatures'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type LinkTo, type ScreenshotRecord, toRecord } from '@tintype/crds/records/record'
import { parseObjectKey } from '@tintype/crds/records/storage-keys'
import { limitsOfPlan, type Plans } from '@tintype/crds/usage/plans'
import type { FastifyRequest } from 'fastify'
import { recordTag } from '../../http/headers.ts'
import type { SignStoreLink } from '../files/store-links.ts'

export interface LinkDeps {
  /** URL at which clients reach the gateway. Empty: links use the host of the request. */
  publicUrl: string
  /** Presigns URLs of the object store. Without it links lead through the gateway. */
  signStoreLink?: SignStoreLink | undefined
  keyRing: () => KeyRing
  plans: Plans
  now: () => Date
}

const HOUR_MILLISECONDS = 3_600_000

const HOST = /^[A-Za-z0-9.\-_[\]:]{1,255}$/

/** Base URL of links: the configured public URL, or the host that the client used. */
export function baseOf(request: Pick<FastifyRequest, 'headers'>, publicUrl: string): string {
  if (publicUrl !== '') return publicUrl
  const { host = '', 'x-forwarded-proto': forwarded } = request.headers
  return HOST.test(host) ? `${forwarded === 'https' ? 'https' : 'http'}://${host}` : ''
}

/** When the files of a screenshot expire. */
export function fileExpiryOf({ metadata, spec }: Screenshot, account: Account, plans: Plans): Date {
  const planDays = limitsOfPlan(plans, account.spec.plan).retentionDays
  return keptUntil(createdAtOf(screenshotIdOf(metadata)), Math.min(planDays, spec.retentionDays ?? planDays))
}

/** Maximum length of an attachment's name before the extension is added. */
const STEM_LENGTH = 96

/** File name for downloads: `attachment_name` for the picture, and the name plus the file's extension for other artifacts. */
function attachmentOf(key: string, { spec }: Screenshot): string | undefined {
  const { attachmentName, options } = spec
  const { extension } = parseObjectKey(key) ?? {}
  const isPicture = extension === undefined || extension === (options?.format ?? 'png')
  return attachmentName === undefined || isPicture ? attachmentName : `${attachmentName.slice(0, STEM_LENGTH).toWellFormed()}.${extension}`
}

/** Builds links for the response to a request. A link never outlives its file. */
function linksFor(
  request: Pick<FastifyRequest, 'headers' | 'account'>,
  { publicUrl, signStoreLink, keyRing, plans, now }: LinkDeps,
): LinkTo {
  const at = now()
  const base = baseOf(request, publicUrl)
  return (key, screenshot) => {
    const { downloadUrlTtlSeconds } = screenshot.spec
    const fileExpiry = fileExpiryOf(screenshot, request.account, plans)
    if (fileExpiry <= at) return undefined
    const expires = Math.min(expiryOf(at, downloadUrlTtlSeconds), Math.floor(fileExpiry.getTime() / 1_000))
    const link = { key, expires, attachment: attachmentOf(key, screenshot) }
    if (signStoreLink === undefined) return { url: base + signLink(link, keyRing()), expires }
    const hour = Math.floor(at.getTime() / HOUR_MILLISECONDS) * HOUR_MILLISECONDS
    const bounded = { ...link, expires: Math.min(expires, hour / 1_000 + MAX_PRESIGNED_SECONDS) }
    return { url: signStoreLink(bounded, new Date(hour)), expires: bounded.expires }
  }
}

/** The record of a screenshot, with links for the response to a request, and its entity tag. */
export function readRecord(
  screenshot: Screenshot,
  request: Pick<FastifyRequest, 'headers' | 'account'>,
  deps: LinkDeps,
): { record: ScreenshotRecord; tag: string } {
  const linkTo = linksFor(request, deps)
  let expires: number | undefined
  const record = toRecord(screenshot, (...args) => {
    const link = linkTo(...args)
    // An expired file also changes the record.
    expires = link?.expires ?? 0
    return link
  })
  return { record, tag: recordTag(screenshot.metadata.resourceVersion, expires) }
}
