import type { Page } from 'playwright'
import t from 'tap'
import { toId } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { complete } from '../api-gateway/runner-role.ts'
import { endEach } from '../links/stage.ts'
import { startStage, visit } from './stage.ts'

// The console without a mouse. Every press goes through the browser, and every element that receives the focus must show it.

const stage = await startStage(t)
const { world, gateways, key, picture } = stage
const [{ url }] = gateways

/** More than the elements of the largest page. */
const MAX_PRESSES = 150

interface Focused {
  name: string
  role: string
  /** An outline is drawn at the element or at its label, inside the window. */
  isVisible: boolean
}

const READ_FOCUS = `(() => {
  const element = document.activeElement
  if (!element || element === document.body) return { name: '', role: 'body', isVisible: true }
  const label = element.labels?.[0]
  const name = element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent ?? ''
  const isOutlined = (one) => one && getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) > 0
  const { top, bottom, left, right } = (label?.contains(element) ? label : element).getBoundingClientRect()
  const isInWindow = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
  return { name: name.trim(), role: element.getAttribute('role') ?? element.localName, isVisible: isInWindow && (isOutlined(element) || isOutlined(label)) }
})()`

const readFocus = (page: Page): Promise<Focused> => page.evaluate<Focused>(READ_FOCUS)

/** Ends a capture, and the comparison that it asked for. */
function end({ metadata, spec }: Screenshot): Promise<void> {
  const comparison = { changed: false, changedRatio: 0, changedPixels: 0, sizeChanged: false, regions: [] }
  const compared = spec.options?.compareTo === undefined ? {} : { pageTitle: 'Compared by keyboard', comparison }
  return complete(toId(metadata.name), picture, world, { width: 1280, height: 800, ...compared })
}

t.test('everything can be done with the keyboard alone, and the focus is always visible', async (t) => {
  endEach(t, world, end)
  const { page, complaints } = await visit(t, stage)
  const hidden = new Set<string>()
  const press = async (keys: string): Promise<Focused> => {
    await page.keyboard.press(keys)
    const focused = await readFocus(page)
    // The content receives the focus as a whole, without a control in it.
    if (!focused.isVisible && !['main', 'h1'].includes(focused.role)) hidden.add(`${focused.role} ${focused.name}`)
    return focused
  }
  /** Presses Tab until an element has the focus. Wraps around at the end of the page. */
  const tabTo = async (name: string | RegExp, role?: string): Promise<void> => {
    const isWanted = (focused: Focused): boolean =>
      (typeof name === 'string' ? focused.name === name : name.test(focused.name)) && (role === undefined || focused.role === role)
    const seen: string[] = []
    for (let presses = 0; presses < MAX_PRESSES; presses++) {
      const focused = await press('Tab')
      if (isWanted(focused)) return
      seen.push(`${focused.role} ${focused.name}`)
    }
    throw new Error(`Tab does not reach ${name}: ${seen.join(', ')}`)
  }
  const replace = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+A')
    await page.keyboard.type(text)
  }

  await page.goto(`${url}/`)
  await page.getByLabel('API key').waitFor()
  await tabTo('API key')
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()

  t.match(await press('Tab'), { name: 'Skip to content' })
  await press('Enter')
  await tabTo('Page', 'input')
  await replace('https://example.com/keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Capture of https://example.com/keyboard' }).waitFor()
  await tabTo('Record', 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Compare with this' }).waitFor()
  t.match(await readFocus(page), { role: 'h1' }, 'the new page has the focus')
  await tabTo('Compare with this')
  await page.keyboard.press('Enter')
  // The URL of the record arrives after the option of the link.
  await page.getByText(/"url": "https:\/\/example.com\/keyboard".*"compare_to": "scr_/s).waitFor()
  await tabTo('Page', 'input')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Capture of https://example.com/keyboard' }).waitFor()

  // The arrow keys move the slider and choose a picture.
  await tabTo('Screenshots', 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Compared by keyboard' }).waitFor()
  await tabTo(/Compared by keyboard/, 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Before' }).waitFor()
  await tabTo('Slider', 'input')
  await tabTo('Share of the picture before', 'input')
  await press('ArrowRight')
  t.equal(await page.getByRole('slider').getAttribute('aria-valuetext'), '51 % before, 49 % after')
  await page.keyboard.press('Shift+Tab')
  await press('ArrowRight')
  t.ok(await page.getByRole('radio', { name: 'Before' }).isChecked())

  await tabTo('Schedules', 'a')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'New schedule' }).waitFor()
  await tabTo('New schedule')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Create schedule' }).waitFor()
  await tabTo('Page', 'input')
  await page.keyboard.type('https://example.com/')
  await tabTo('Name', 'input')
  await page.keyboard.type('by keyboard')
  await tabTo('Create schedule')
  await page.keyboard.press('Space')
  await page.getByRole('heading', { name: 'by keyboard' }).waitFor()

  // A dialog takes the focus, keeps it, and gives it back.
  await tabTo('Delete', 'button')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  const isInDialog = (): Promise<boolean> => page.evaluate('document.activeElement.closest("dialog") !== null')
  t.ok(await isInDialog())
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  t.match(await readFocus(page), { name: 'Delete', isVisible: true }, 'the focus is where it was')
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  await tabTo('Delete', 'button')
  t.ok(await isInDialog())
  await page.keyboard.press('Enter')
  await page.getByText('No schedules yet').waitFor()
  t.match(await readFocus(page), { role: 'h1' })

  await tabTo('Sign out')
  await page.keyboard.press('Enter')
  await page.getByLabel('API key').waitFor()
  t.strictSame([...hidden], [], 'elements whose focus cannot be seen')
  t.strictSame(complaints, [])
})
