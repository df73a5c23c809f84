import { setTimeout as sleep } from 'node:timers/promises'
import { complete } from '../../../integration/api-gateway/runner-role.ts'
import { bodyOf, send } from '../stage/requests.ts'
import { type ConsoleStage, OPTIONS, openContext } from './console-stage.ts'
import { openList, waitInPage } from './list.ts'

// A batch of a hundred screenshots while somebody looks at the list.

const COUNT = 100
/** Between two ends of captures, as with a few runners. */
const PAUSE_MILLISECONDS = 100

export interface BatchFigures {
  /** Seconds from the response of POST /screenshots/batch until the list shows all as pending. */
  appeared: number
  /** Seconds from the end of the last capture until every record of the batch is shown with its picture. */
  filled: number
  /** Navigations of the page after the first one. */
  reloads: number
}

/** Counts the cards of the batch with a picture, which the list draws when the window shows them. */
export async function measureBatch(stage: ConsoleStage, progress: (line: string) => void): Promise<BatchFigures> {
  const { gateway, key, plane, thumbnails } = stage
  const context = await openContext(stage)
  const page = await context.newPage()
  // All cards of the batch fit into the window, so that all are drawn.
  await page.setViewportSize({ width: 1_680, height: 4_800 })
  await openList(page, gateway.url)
  let reloads = 0
  page.on('load', () => reloads++)
  const body = {
    urls: Array.from({ length: COUNT }, (_, index) => `https://example.com/batch/${index}`),
    options: {
      thumbnail_width: OPTIONS.thumbnailWidth,
      thumbnail_height: OPTIONS.thumbnailHeight,
      thumbnail_format: OPTIONS.thumbnailFormat,
    },
  }
  const reply = await send(`${gateway.url}/v1/screenshots/batch`, { method: 'POST', key, body })
  const { screenshots } = bodyOf<{ screenshots: { id: string }[] }>(reply, 202)
  const ids = screenshots.map(({ id }) => id)
  const waitForCards = async (selector: string): Promise<number> => {
    const started = performance.now()
    const links = JSON.stringify(ids.map((id) => `#/screenshots/${id}`))
    await waitInPage(page, `() => ${links}.every((link) => document.querySelector('.card[href="' + link + '"] ${selector}'))`)
    return (performance.now() - started) / 1_000
  }
  const appeared = await waitForCards('.badge.pending')
  progress('batch shown as pending')
  for (const [index, id] of ids.entries()) {
    await complete(id, thumbnails[index % thumbnails.length] ?? Buffer.alloc(0), plane, { width: 320, height: 240 })
    await sleep(PAUSE_MILLISECONDS)
  }
  progress('captures of the batch ended')
  const filled = await waitForCards('img')
  await context.close()
  return { appeared, filled, reloads }
}
