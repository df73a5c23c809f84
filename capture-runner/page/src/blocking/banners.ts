import type { PageFunctions } from '../../../src/page/functions.ts'
import { shareOfWindow } from '../shared/boxes.ts'
import { attributeOf, call, isHtml, nameOf, queryAll, read, setStyle } from '../shared/dom.ts'
import { shadowRootOf } from '../shared/tree.ts'

// Detects banners that are in no list by their position and text. It considers only boxes above the page that do not scroll with it. The page's own bars
// do not contain the words.

const BUTTONS = 'button, [role=button], a, input[type=button], input[type=submit], [class*=button i], [class*=btn i]'
const FIELDS = 'input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=hidden]), select, textarea'

interface Found {
  element: Element
  /** It is a banner, not a backdrop. */
  says: boolean
}

/** Finds banners in the document and its shadow roots. */
class BannerSearch {
  readonly #onlyConsent: boolean

  /** @param onlyConsent only consent banners count */
  constructor(onlyConsent: boolean) {
    this.#onlyConsent = onlyConsent
  }

  /** Banners, and backdrops that cover the whole window without text. */
  findAll(): Found[] {
    const found: Found[] = []
    for (const element of document.body ? this.below(document.body) : []) {
      if (!isAbove(element) || found.some((other) => isWithin(element, other.element))) continue
      const covered = shareOfWindow(element)
      if (covered === 0) continue
      const text = this.#textOf(element)
      const says = this.#onlyConsent
        ? this.#isConsentBanner(element, text)
        : WORDS.test(text) && this.#has(element, 'button, [role=button], a, input')
      if (says || this.#isBackdrop(element, covered, text)) found.push({ element, says })
    }
    return found.some(({ says }) => says) ? found : []
  }

  /** All descendants of an element, including those in shadow roots, in document order. */
  below(element: Element): Element[] {
    const found: Element[] = []
    const root = shadowRootOf(element)
    const roots: ParentNode[] = root ? [element, root] : [element]
    for (const root of roots) {
      for (const inner of queryAll(root, '*')) {
        found.push(inner)
        const deeper = shadowRootOf(inner)
        if (deeper) roots.push(deeper)
      }
    }
    return found
  }

  /** innerText leaves shadow roots out. */
  #textOf(element: Element): string {
    return [element, ...this.below(element)]
      .flatMap((inner) => [...(shadowRootOf(inner)?.childNodes ?? [])].map(shownIn))
      .concat(innerTextOf(element) ?? '')
      .join(' ')
      .slice(0, 5000)
  }

  #has(element: Element, selector: string): boolean {
    return this.below(element).some((inner) => call(inner, 'matches', selector))
  }

  #isConsentBanner(element: Element, text: string): boolean {
    if (text.length >= 4000 || OWN.test(text) || !(CONSENT_WORDS.test(text) || PRIVACY_WORDS.test(text))) return false
    const labels = this.below(element).filter(isBannerButton).map(labelOf)
    const refuses = labels.some((label) => REJECTING.test(label))
    const agrees = labels.some((label) => ACCEPTING.test(label) && !REJECTING.test(label))
    const hasButtons = CONSENT_WORDS.test(text) ? labels.length > 0 : refuses && agrees
    return hasButtons && !this.#has(element, `${FIELDS}, nav, main, article, [role=navigation], [role=search]`)
  }

  #isBackdrop(element: Element, covered: number, text: string): boolean {
    return covered > 0.9 && text.trim() === '' && !this.#has(element, 'img, video, canvas, svg, iframe')
  }
}

function isAbove(element: Element): boolean {
  const style = getComputedStyle(element)
  if (style.display === 'none' || style.visibility === 'hidden') return false
  return (
    style.position === 'fixed' ||
    style.position === 'sticky' ||
    (style.position === 'absolute' && Number(style.zIndex) >= 100) ||
    (nameOf(element) === 'dialog' && (element as HTMLDialogElement).open)
  )
}

function isWithin(element: Element, other: Element): boolean {
  for (let node: Node | null = element; node; node = read(node, 'parentNode') ?? (node instanceof ShadowRoot ? node.host : null)) {
    if (node === other) return true
  }
  return false
}

const innerTextOf = (node: Node): string | undefined => (node instanceof Element && isHtml(node) ? read(node, 'innerText') : undefined)

function shownIn(node: Node): string {
  if (node instanceof Text) return node.data
  return node instanceof Element && /^(style|script|template)$/.test(nameOf(node)) ? '' : (innerTextOf(node) ?? '')
}

const labelOf = (element: Element): string =>
  (
    [read(element as HTMLInputElement, 'value') as unknown, innerTextOf(element), attributeOf(element, 'aria-label')].find(
      (text): text is string => typeof text === 'string' && text.trim() !== '',
    ) ?? ''
  ).trim()

function isBannerButton(element: Element): boolean {
  if (!call(element, 'matches', BUTTONS) && !nameOf(element).includes('-')) return false
  const label = labelOf(element)
  return label.length < 80 && startsLikeButton(label)
}

export const hideBanners: PageFunctions['hideBanners'] = (onlyConsent) => {
  const found = new BannerSearch(onlyConsent).findAll()
  if (found.length === 0) return 0
  for (const { element } of found) setStyle(element, { display: 'none' })
  return found.length
}

export const clickBannerButton: PageFunctions['clickBannerButton'] = (isAccepting) => {
  const search = new BannerSearch(true)
  for (const { element } of search.findAll().filter(({ says }) => says)) {
    const buttons = search
      .below(element)
      .filter((button) => isBannerButton(button) && call(button, 'checkVisibility'))
      .map((button) => ({ button, label: labelOf(button) }))
      .filter(({ label }) => !SETTING.test(label))
    const fitting = isAccepting
      ? buttons.filter(({ label }) => ACCEPTING.test(label) && !REJECTING.test(label))
      : buttons.filter(({ label }) => REJECTING.test(label))
    const chosen = fitting.find(({ label }) => ALL.test(label)) ?? fitting[0]
    if (!chosen) continue
    call(chosen.button as HTMLElement, 'click')
    return true
  }
  return false
}

/** Words in banners and overlays of all kinds. */
const WORDS =
  /cookie|consent|gdpr|privacy|datenschutz|einwillig|confidentialit|privacidad|newsletter|subscribe|sign up|notification|install (the|our) app|download (the|our) app/i

/** Words in consent banners. */
const CONSENT_WORDS =
  /cookie|consent to|your consent|gdpr|dsgvo|einwillig|consentement|consentimiento|your privacy|ciasteczk|kakor|evästeet|クッキー/i

/** Words in consent banners without the words above. Those have one button to accept and one to reject. */
const PRIVACY_WORDS =
  /privacy|personal (data|information)|datenschutz|personenbezogen|données personnelles|confidentialit|datos personales|dati personali/i

/** Beginnings of their button labels, in the languages of these words. No other box above a page mentions cookies and has such a button. */
const LABELS = `
only |accept|agree|allow|i accept|i agree|i understand|yes|ok|okay|got it|understood|dismiss|close|continue|reject|decline|refuse|deny|disagree|
no thanks|(use )?(only )?(necessary|essential)|save|confirm|that's fine|fine|hide|
alle|akzeptier|zustimm|ich stimme|einverstanden|ablehn|nur |verstanden|schließen|speichern|
accepter|j'accepte|tout|refuser|je refuse|continuer|d'accord|fermer|compris|
acept|rechaz|entendido|cerrar|aceit|rejeit|recus|fechar|accett|rifiut|chiudi|ho capito|
accepteer|akkoord|weiger|sluiten|godta|avvis|godkänn|acceptera|neka|tillad|afvis|hyväksy|akcept|odrzu|zgadzam|souhlas|přijm|odmít|elfogad|
принять|отклон|соглас|
同意|拒否|拒绝|接受|동의|허용|[×✕✖x]$`

const startsLikeButton = (label: string): boolean => new RegExp(`^(${LABELS.replaceAll('\n', '')})`, 'i').test(label)

/** Gates that are the page's own content, even if they mention cookies. */
const OWN =
  /age\s+(verification|confirmation|check|gate|restriction)|(over|at least|older than|i am|must be)\s*(18|21)|(18|21)\s*(\+|years)|date of birth/i

/** Labels of buttons that reject, and of those that accept. A label that rejects may also contain a word that accepts. */
const REJECTING =
  /reject|declin|refus|deny|disagree|necessary|essential|required|no,? thanks|don't (accept|agree|allow)|without accepting|ablehn|nur |refuser|sans accepter|rechaz|solo |rejeit|recus|rifiut|weiger|alleen|avvis|afvis|neka|hylkää|odrzu|odmít|elutas|отклон|拒/i
const ACCEPTING =
  /accept|agree|allow|consent|yes|^ok|okay|got it|understood|i understand|that's fine|^fine|akzeptier|zustimm|einverstanden|erlauben|d'accord|acept|aceit|accett|akkoord|godta|godkänn|tillad|hyväksy|akcept|zgadzam|souhlas|přijm|elfogad|принять|соглас|同意|接受|동의|허용/i
/** Labels of buttons that open settings, and labels of buttons for all purposes. */
const SETTING = /setting|manage|preference|customi|option|more|learn|policy|einstellung|paramètre|ajustes|impostazioni|instelling/i
const ALL = /all|tou[ts]|tod[oa]s|tutt|vše|wszyst/i
