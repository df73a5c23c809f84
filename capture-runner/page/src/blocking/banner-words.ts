/** Words in banners and overlays of all kinds. */
export const WORDS =
  /cookie|consent|gdpr|privacy|datenschutz|einwillig|confidentialit|privacidad|newsletter|subscribe|sign up|notification|install (the|our) app|download (the|our) app/i

/** Words in consent banners. */
export const CONSENT_WORDS =
  /cookie|consent to|your consent|gdpr|dsgvo|einwillig|consentement|consentimiento|your privacy|ciasteczk|kakor|evästeet|クッキー/i

/** Words in consent banners without the words above. Those have one button to accept and one to reject. */
export const PRIVACY_WORDS =
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

export const startsLikeButton = (label: string): boolean => new RegExp(`^(${LABELS.replaceAll('\n', '')})`, 'i').test(label)

/** Gates that are the page's own content, even if they mention cookies. */
export const OWN =
  /age\s+(verification|confirmation|check|gate|restriction)|(over|at least|older than|i am|must be)\s*(18|21)|(18|21)\s*(\+|years)|date of birth/i

/** Labels of buttons that reject, and of those that accept. A label that rejects may also contain a word that accepts. */
export const REJECTING =
  /reject|declin|refus|deny|disagree|necessary|essential|required|no,? thanks|don't (accept|agree|allow)|without accepting|ablehn|nur |refuser|sans accepter|rechaz|solo |rejeit|recus|rifiut|weiger|alleen|avvis|afvis|neka|hylkää|odrzu|odmít|elutas|отклон|拒/i
export const ACCEPTING =
  /accept|agree|allow|consent|yes|^ok|okay|got it|understood|i understand|that's fine|^fine|akzeptier|zustimm|einverstanden|erlauben|d'accord|acept|aceit|accett|akkoord|godta|godkänn|tillad|hyväksy|akcept|zgadzam|souhlas|přijm|elfogad|принять|соглас|同意|接受|동의|허용/i
/** Labels of buttons that open settings, and labels of buttons for all purposes. */
export const SETTING = /setting|manage|preference|customi|option|more|learn|policy|einstellung|paramètre|ajustes|impostazioni|instelling/i
export const ALL = /all|tou[ts]|tod[oa]s|tutt|vše|wszyst/i
