import { expiryOf, type KeyRing, signLink } from '@tintype/crds/download-link'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type LinkTo, type ScreenshotRecord, toRecord } from '@tintype/crds/record'
import type { FastifyRequest } from 'fastify'
import { recordTag } from '../translate/etag.ts'

export interface LinkDeps {
  /** Address under which clients reach the gateway; empty: the one that the request was sent to. */
  publicUrl: string
  keyRing: () => KeyRing
  now: () => Date
}

const HOST = /^[A-Za-z0-9.\-_[\]:]{1,255}$/

/** Where the client reached us: the public address, or what its own request says, so that the links in the answer work for it. */
export function baseOf(request: Pick<FastifyRequest, 'headers'>, publicUrl: string): string {
  if (publicUrl !== '') return publicUrl
  const { host = '', 'x-forwarded-proto': forwarded } = request.headers
  return HOST.test(host) ? `${forwarded === 'https' ? 'https' : 'http'}://${host}` : ''
}

/** Makes links for the answer to one request. */
export function linksFor(request: Pick<FastifyRequest, 'headers'>, { publicUrl, keyRing, now }: LinkDeps): LinkTo {
  const expires = expiryOf(now())
  const base = baseOf(request, publicUrl)
  return (key) => ({ url: base + signLink({ key, expires }, keyRing()), expires })
}

/** A record and its entity tag. */
export function readRecord(screenshot: Screenshot, linkTo: LinkTo): { record: ScreenshotRecord; tag: string } {
  let expires: number | undefined
  const record = toRecord(screenshot, (key) => {
    const link = linkTo(key)
    expires = link.expires
    return link
  })
  return { record, tag: recordTag(screenshot.metadata.resourceVersion, expires) }
}
