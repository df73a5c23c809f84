// Guesses what is a banner by how it lies on the page and by what it says, for banners that no list knows. It takes only boxes that lie above the
// page and do not move with it; the page's own bars say none of the words.

/** What banners and overlays of all kinds say. */
const WORDS =
  'cookie|consent|gdpr|privacy|datenschutz|einwillig|confidentialit|privacidad|newsletter|subscribe|sign up|notification|install (the|our) app|download (the|our) app'

/** What banners that ask for consent say. */
const CONSENT_WORDS =
  'cookie|consent to|your consent|gdpr|dsgvo|einwillig|consentement|consentimiento|your privacy|ciasteczk|kakor|evästeet|クッキー'

/** What those say that do not; they have one button that agrees and one that refuses. */
const PRIVACY_WORDS =
  'privacy|personal (data|information)|datenschutz|personenbezogen|données personnelles|confidentialit|datos personales|dati personali'

/** How their buttons begin, in lower case: no other box above a page speaks of cookies and has one. */
const ANSWERS = [
  "only |accept|agree|allow|i accept|i agree|i understand|yes|ok|okay|got it|understood|dismiss|close|continue|reject|decline|refuse|deny|disagree|no thanks|(use )?(only )?(necessary|essential)|save|confirm|that's fine|fine|hide",
  'alle|akzeptier|zustimm|ich stimme|einverstanden|ablehn|nur |verstanden|schließen|speichern',
  "accepter|j'accepte|tout|refuser|je refuse|continuer|d'accord|fermer|compris",
  'acept|rechaz|entendido|cerrar|aceit|rejeit|recus|fechar|accett|rifiut|chiudi|ho capito',
  'accepteer|akkoord|weiger|sluiten|godta|avvis|godkänn|acceptera|neka|tillad|afvis|hyväksy|akcept|odrzu|zgadzam|souhlas|přijm|odmít|elfogad|принять|отклон|соглас',
  '同意|拒否|拒绝|接受|동의|허용|[×✕✖x]$',
].join('|')

/** Gates that are the page's own content, cookies or not. */
const OWN =
  'age\\s+(verification|confirmation|check|gate|restriction)|(over|at least|older than|i am|must be)\\s*(18|21)|(18|21)\\s*(\\+|years)|date of birth'

/** Buttons that refuse, and those that agree; what refuses may say that it accepts little. */
const REFUSING =
  "reject|declin|refus|deny|disagree|necessary|essential|required|no,? thanks|don't (accept|agree|allow)|without accepting|ablehn|nur |refuser|sans accepter|rechaz|solo |rejeit|recus|rifiut|weiger|alleen|avvis|afvis|neka|hylkää|odrzu|odmít|elutas|отклон|拒"
const AGREEING =
  "accept|agree|allow|consent|yes|^ok|okay|got it|understood|i understand|that's fine|^fine|akzeptier|zustimm|einverstanden|erlauben|d'accord|acept|aceit|accett|akkoord|godta|godkänn|tillad|hyväksy|akcept|zgadzam|souhlas|přijm|elfogad|принять|соглас|同意|接受|동의|허용"
const SETTING = 'setting|manage|preference|customi|option|more|learn|policy|einstellung|paramètre|ajustes|impostazioni|instelling'

/** Of whether only banners that ask for consent count (onlyConsent), and of the closed shadow roots that are known (closedRoots). */
const FIND = `
  const words = onlyConsent ? /${CONSENT_WORDS}/i : /${WORDS}/i
  const answers = /^(${ANSWERS})/i
  const own = /${OWN}/i
  const privacy = /${PRIVACY_WORDS}/i
  const refusing = /${REFUSING}/i
  const agreeing = /${AGREEING}/i
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
  // Elements below one, with those in shadow roots; each after all that is around it.
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
  const isAnswer = (element) => {
    if (!element.matches('button, [role=button], a, input[type=button], input[type=submit], [class*=button i], [class*=btn i]') && !element.localName.includes('-')) return false
    const label = labelOf(element)
    return label.length < 80 && answers.test(label)
  }
  const FIELDS = 'input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=hidden]), select, textarea'
  const asksForConsent = (element, text) => {
    if (text.length >= 4000 || own.test(text) || !(words.test(text) || privacy.test(text))) return false
    const labels = below(element).filter(isAnswer).map(labelOf)
    const refuses = labels.some((label) => refusing.test(label))
    const agrees = labels.some((label) => agreeing.test(label) && !refusing.test(label))
    return (words.test(text) ? labels.length > 0 : refuses && agrees) && !has(element, FIELDS + ', nav, main, article, [role=navigation], [role=search]')
  }
  const isVeil = (element, covered, text) => covered > 0.9 && text.trim() === '' && !has(element, 'img, video, canvas, svg, iframe')
  // Banners, and veils: nothing to read, and the whole window covered.
  const findAll = () => {
    const found = []
    for (const element of document.body ? below(document.body) : []) {
      if (!isAbove(element) || found.some((other) => isWithin(element, other.element))) continue
      const covered = share(element)
      if (covered === 0) continue
      const text = textOf(element)
      const says = onlyConsent ? asksForConsent(element, text) : words.test(text) && has(element, 'button, [role=button], a, input')
      if (says || isVeil(element, covered, text)) found.push({ element, says })
    }
    return found.some(({ says }) => says) ? found : []
  }`

/**
 * Hides what looks like a banner or an overlay; gives their number. A function for the page, synchronous, of whether only banners that ask for consent
 * count, and of the closed shadow roots that are known.
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
 * Answers a banner that asks for consent by its buttons; false: there is none, or none that would do. A function for the page, synchronous, of whether to
 * agree, and of the closed shadow roots that are known.
 */
export const answerBanner = `(isAgreeing, ...closedRoots) => {
  const onlyConsent = true
  ${FIND}
  const setting = /${SETTING}/i
  const all = /all|tou[ts]|tod[oa]s|tutt|vše|wszyst/i
  for (const { element } of findAll().filter(({ says }) => says)) {
    const buttons = below(element).filter((button) => isAnswer(button) && button.checkVisibility())
      .map((button) => ({ button, label: labelOf(button) })).filter(({ label }) => !setting.test(label))
    const fitting = isAgreeing
      ? buttons.filter(({ label }) => agreeing.test(label) && !refusing.test(label))
      : buttons.filter(({ label }) => refusing.test(label))
    const chosen = fitting.find(({ label }) => all.test(label)) ?? fitting[0]
    if (!chosen) continue
    chosen.button.click()
    return true
  }
  return false
}`
