import { chromium } from 'playwright'
import type { Test } from 'tap'
import { toCall } from '../../../../capture-runner/src/page/call.ts'
import type { PageFunctionName, PageFunctions } from '../../../../capture-runner/src/page/functions.ts'
import { CHROMIUM } from '../stage/studio.ts'

// Opens documents and calls page functions in them, in an isolated world, as a capture does.

/** An open document. */
export type OpenDocument = Awaited<ReturnType<Awaited<ReturnType<typeof openLab>>>>

/** A document, or the body of one. */
export interface Source {
  text: string | Buffer
  contentType?: string
}

export const WINDOW = { width: 800, height: 600 }

/** Starts a browser, which ends with the test file. Each document opens at `http://page.test/`, with other documents at their paths. */
export async function openLab(t: Test) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 })
  t.teardown(() => browser.close())
  const page = await browser.newPage({ viewport: WINDOW })
  let documents: Readonly<Record<string, string | Source>> = {}
  await page.route('**/*', (route) => {
    const found = documents[new URL(route.request().url()).pathname]
    if (found === undefined) return route.fulfill({ status: 404 })
    const { text, contentType = 'text/html; charset=utf-8' } = typeof found === 'string' ? { text: found } : found
    return route.fulfill({ contentType, body: text })
  })
  const session = await page.context().newCDPSession(page)
  return async (main: string | Source, others: Readonly<Record<string, string | Source>> = {}) => {
    documents = { '/': main, ...others }
    await page.goto('http://page.test/')
    const { frameTree } = await session.send('Page.getFrameTree')
    const world = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'tintype',
      grantUniveralAccess: true,
    })
    const contextId = world.executionContextId
    /** Evaluates an expression in the isolated world. */
    const readInside = async (expression: string) => {
      const evaluation = { expression, contextId, returnByValue: true, awaitPromise: true }
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', evaluation)
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value
    }
    return {
      page,
      session,
      contextId,
      readInside,
      call: <Name extends PageFunctionName>(
        name: Name,
        ...values: Parameters<PageFunctions[Name]>
      ): Promise<Awaited<ReturnType<PageFunctions[Name]>>> => readInside(toCall(name, ...values)),
      /** Evaluates an expression in the page's own world. */
      read: (expression: string): Promise<unknown> => page.evaluate(expression),
    }
  }
}
