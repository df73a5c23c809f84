// Detects banners that are in no list by their position and text. It considers only boxes above the page that do not scroll with it. The page's own bars
// do not contain the words.

/** Words in banners and overlays of all kinds. */
const WORDS =
  'cookie|consent|gdpr|privacy|datenschutz|einwillig|confidentialit|privacidad|newsletter|subscribe|sign up|notification|install (the|our) app|download (the|our) app'

/** Words in consent banners. */
const CONSENT_WORDS =
  'cookie|consent to|your consent|gdpr|dsgvo|einwillig|consentement|consentimiento|your privacy|ciasteczk|kakor|evästeet|クッキー'

/** Words in consent banners without the words above. Those have one button to accept and one to reject. */
const PRIVACY_WORDS =
  'privacy|personal (data|information)|datenschutz|personenbezogen|données personnelles|confidentialit|datos personales|dati personali'

/** Beginnings of their button labels, in lower case. No other box above a page mentions cookies and has such a button. */
const BUTTON_LABELS = [
  "only |accept|agree|allow|i accept|i agree|i understand|yes|ok|okay|got it|understood|dismiss|close|continue|reject|decline|refuse|deny|disagree|no thanks|(use )?(only )?(necessary|essential)|save|confirm|that's fine|fine|hide",
  'alle|akzeptier|zustimm|ich stimme|einverstanden|ablehn|nur |verstanden|schließen|speichern',
  "accepter|j'accepte|tout|refuser|je refuse|continuer|d'accord|fermer|compris",
  'acept|rechaz|entendido|cerrar|aceit|rejeit|recus|fechar|accett|rifiut|chiudi|ho capito',
  'accepteer|akkoord|weiger|sluiten|godta|avvis|godkänn|acceptera|neka|tillad|afvis|hyväksy|akcept|odrzu|zgadzam|souhlas|přijm|odmít|elfogad|принять|отклон|соглас',
  '同意|拒否|拒绝|接受|동의|허용|[×✕✖x]$',
].join('|')

/** Gates that are the page's own content, even if they mention cookies. */
const OWN =
  'age\\s+(verification|confirmation|check|gate|restriction)|(over|at least|older than|i am|must be)\\s*(18|21)|(18|21)\\s*(\\+|years)|date of birth'

/** Labels of buttons that reject, and of those that accept. A label that rejects may also contain a word that accepts. */
const REJECTING =
  "reject|declin|refus|deny|disagree|necessary|essential|required|no,? thanks|don't (accept|agree|allow)|without accepting|ablehn|nur |refuser|sans accepter|rechaz|solo |rejeit|recus|rifiut|weiger|alleen|avvis|afvis|neka|hylkää|odrzu|odmít|elutas|отклон|拒"
const ACCEPTING =
  "accept|agree|allow|consent|yes|^ok|okay|got it|understood|i understand|that's fine|^fine|akzeptier|zustimm|einverstanden|erlauben|d'accord|acept|aceit|accett|akkoord|godta|godkänn|tillad|hyväksy|akcept|zgadzam|souhlas|přijm|elfogad|принять|соглас|同意|接受|동의|허용"
const SETTING = 'setting|manage|preference|customi|option|more|learn|policy|einstellung|paramètre|ajustes|impostazioni|instelling'

/** JavaScript for the page. Uses `onlyConsent` (only consent banners count) and `closedRoots` (the known closed shadow roots). */
const FIND = `
  const words = onlyConsent ? /${CONSENT_WORDS}/i : /${WORDS}/i
  const buttonLabels = /^(${BUTTON_LABELS})/i
  const own = /${OWN}/i
  const privacy = /${PRIVACY_WORDS}/i
  const rejecting = /${REJECTING}/i
  const accepting = /${ACCEPTING}/i
  const area = innerWidth * innerHeight
  const closed = new Map(closedRoots.map((root) => [root.host, root]))
  const rootOf = (element) => element.shadowRoot ?? closed.get(element)
  const isAbove = (element) => {
    const style = getComputedStyle(element)
    if (style.display === 'none' || style.visibility === 'hidden') return false
    return style.position === 'fixed' || style.position === 'sticky' || (style.position === 'absolute' && Number(style.zIndex) >= 100) ||
      (element.tagName === 'DIALOG' && element.open)
  }
  const share = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    const width = Math.min(right, innerWidth) - Math.max(left, 0)
    const height = Math.min(bottom, innerHeight) - Math.max(top, 0)
    return width > 0 && height > 0 ? (width * height) / area : 0
  }
  // All descendants of an element, including those in shadow roots, in document order.
  const below = (element) => {
    const found = []
    const root = rootOf(element)
    const roots = root ? [element, root] : [element]
    for (const root of roots) {
      for (const inner of root.querySelectorAll('*')) {
        found.push(inner)
        const deeper = rootOf(inner)
        if (deeper) roots.push(deeper)
      }
    }
    return found
  }
  const isWithin = (element, other) => {
    for (let node = element; node; node = node.parentNode ?? node.host) if (node === other) return true
    return false
  }
  const shownIn = (node) => node.nodeType === Node.TEXT_NODE ? node.data : /^(style|script|template)$/i.test(node.tagName) ? '' : (node.innerText ?? '')
  // innerText leaves shadow roots out.
  const textOf = (element) =>
    [element, ...below(element)].flatMap((inner) => [...(rootOf(inner)?.childNodes ?? [])].map(shownIn))
      .concat(element.innerText ?? '').join(' ').slice(0, 5000)
  const has = (element, selector) => below(element).some((inner) => inner.matches(selector))
  const labelOf = (element) =>
    ([element.value, element.innerText, element.getAttribute('aria-label')].find((text) => typeof text === 'string' && text.trim() !== '') ?? '').trim()
  const isBannerButton = (element) => {
    if (!element.matches('button, [role=button], a, input[type=button], input[type=submit], [class*=button i], [class*=btn i]') && !element.localName.includes('-')) return false
    const label = labelOf(element)
    return label.length < 80 && buttonLabels.test(label)
  }
  const FIELDS = 'input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=hidden]), select, textarea'
  const isConsentBanner = (element, text) => {
    if (text.length >= 4000 || own.test(text) || !(words.test(text) || privacy.test(text))) return false
    const labels = below(element).filter(isBannerButton).map(labelOf)
    const refuses = labels.some((label) => rejecting.test(label))
    const agrees = labels.some((label) => accepting.test(label) && !rejecting.test(label))
    return (words.test(text) ? labels.length > 0 : refuses && agrees) && !has(element, FIELDS + ', nav, main, article, [role=navigation], [role=search]')
  }
  const isBackdrop = (element, covered, text) => covered > 0.9 && text.trim() === '' && !has(element, 'img, video, canvas, svg, iframe')
  // Banners, and backdrops that cover the whole window without text.
  const findAll = () => {
    const found = []
    for (const element of document.body ? below(document.body) : []) {
      if (!isAbove(element) || found.some((other) => isWithin(element, other.element))) continue
      const covered = share(element)
      if (covered === 0) continue
      const text = textOf(element)
      const says = onlyConsent ? isConsentBanner(element, text) : words.test(text) && has(element, 'button, [role=button], a, input')
      if (says || isBackdrop(element, covered, text)) found.push({ element, says })
    }
    return found.some(({ says }) => says) ? found : []
  }`

/**
 * Hides elements that look like a banner or an overlay, and returns their number. A synchronous function for the page. Its parameters: whether only
 * consent banners count, and the known closed shadow roots.
 */
export const guessBanners = `(onlyConsent, ...closedRoots) => {${FIND}
  const found = findAll()
  if (found.length === 0) return 0
  for (const { element } of found) element.style.setProperty('display', 'none', 'important')
  for (const element of [document.documentElement, document.body]) {
    if (getComputedStyle(element).overflowY === 'hidden') element.style.setProperty('overflow', 'visible', 'important')
  }
  return found.length
}`

/**
 * Clicks the matching button of a consent banner; returns false if there is none. A synchronous function for the page. Its parameters: whether to
 * accept, and the known closed shadow roots.
 */
export const clickBannerButton = `(isAccepting, ...closedRoots) => {
  const onlyConsent = true
  ${FIND}
  const setting = /${SETTING}/i
  const all = /all|tou[ts]|tod[oa]s|tutt|vše|wszyst/i
  for (const { element } of findAll().filter(({ says }) => says)) {
    const buttons = below(element).filter((button) => isBannerButton(button) && button.checkVisibility())
      .map((button) => ({ button, label: labelOf(button) })).filter(({ label }) => !setting.test(label))
    const fitting = isAccepting
      ? buttons.filter(({ label }) => accepting.test(label) && !rejecting.test(label))
      : buttons.filter(({ label }) => rejecting.test(label))
    const chosen = fitting.find(({ label }) => all.test(label)) ?? fitting[0]
    if (!chosen) continue
    chosen.button.click()
    return true
  }
  return false
}`
