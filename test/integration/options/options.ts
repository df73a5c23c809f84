import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { CaptureOptions } from '@tintype/crds/options/catalogue'
import type { Test } from 'tap'
import type { Captured } from '../../../capture-runner/src/capture/run.ts'
import type { HttpCache } from '../../../capture-runner/src/http-cache/http-cache.ts'
import type { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { type PageServer, type Pages, servePages } from '../capture-runner/stage/page-server.ts'
import { decode, type Pixels } from '../capture-runner/stage/pixels.ts'
import { type How, openStudio, type StudioOptions } from '../capture-runner/stage/studio.ts'

// What the tests of options share: one pair of browsers and one site for all tests of a file, a context for each capture. A test is named
// `option <snake_name>: …`, which is how docs/options.md and `every option has a test` find it; a test of another name says what it proves in a
// comment above it, `// proves: <snake_name>, <snake_name>`.

/** A capture with its picture decoded; a pdf has none. */
export interface Shot extends Captured {
  pixels: Pixels
  timings: Record<string, number>
}

/** A request as the site saw it. */
export interface SeenRequest {
  method: string
  /** Path and query. */
  path: string
  headers: IncomingHttpHeaders
}

/** A pair of browsers before a site. */
export interface OptionStage {
  site: PageServer
  /** What captures of a batch share. */
  httpCache: HttpCache
  /** Every request so far, oldest first. */
  seen: SeenRequest[]
  /** The last request for a path. @throws when there was none */
  lastSeen: (path: string) => SeenRequest
  shoot: (path: string, options?: CaptureOptions, how?: How) => Promise<Shot>
  /** What a page of {@link telling} told. */
  ask: (path: string, options?: CaptureOptions, how?: How) => Promise<unknown>
  /** The error of a capture that must fail. */
  fail: (path: string, options?: CaptureOptions, how?: How) => Promise<CaptureError>
  /** The same for any address. */
  shootAt: (url: string, options?: CaptureOptions, how?: How) => Promise<Shot>
}

/** A page of one color, with something on it. */
export const page = (style: string, body = '', head = ''): string =>
  `<!doctype html><title>A page</title>${head}<body style="margin:0;${style}">${body}</body>`

/** A page whose title is the JSON of an expression's value (awaited), told when it has loaded. */
export const telling = (expression: string, body = ''): string =>
  `<!doctype html><body><p>A page.</p>${body}<script type="module">document.title = JSON.stringify(await (${expression}))</script></body>`

/** The strictest policy that a page can have, around its body. */
export const strict =
  (html: string): RequestListener =>
  (_, response) => {
    const policy = "default-src 'none'; style-src 'none'; script-src 'none'"
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
    response.end(html)
  }

/** Starts browsers and site; they end with the file. */
export async function openStage(t: Test, pages: Pages, options?: StudioOptions): Promise<OptionStage> {
  const seen: SeenRequest[] = []
  const [studio, site] = await Promise.all([openStudio(options), servePages(notingAll(pages, seen))])
  t.teardown(async () => {
    await studio.close()
    await site.close()
  })
  const shootAt: OptionStage['shootAt'] = async (url, chosen, how) => {
    const captured = await studio.shoot(url, chosen, how)
    return { ...captured, pixels: await decode(captured.picture) }
  }
  const shoot: OptionStage['shoot'] = (path, ...rest) => shootAt(site.url(path), ...rest)
  return {
    site,
    httpCache: studio.httpCache,
    seen,
    shoot,
    shootAt,
    lastSeen: (path) => {
      const found = seen.findLast((request) => request.path === path)
      if (!found) throw new Error(`nobody asked for ${path}; asked for were ${seen.map((request) => request.path).join(', ')}`)
      return found
    },
    ask: async (path, ...rest) => JSON.parse((await studio.shoot(site.url(path), ...rest)).findings.pageTitle ?? 'null'),
    fail: (path, ...rest) => studio.shootInVain(site.url(path), ...rest),
  }
}

/** The pages, with every request for one noted. */
const notingAll = (pages: Pages, seen: SeenRequest[]): Pages =>
  Object.fromEntries(
    Object.entries(pages).map(([path, answer]): [string, RequestListener] => [
      path,
      (request, response) => {
        seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers })
        if (typeof answer === 'function') return answer(request, response)
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        response.end(answer)
      },
    ]),
  )
