import type { DevTools } from './devtools.ts'

// For a missing glyph, Chromium queries fontconfig by language alone, without serif or sans-serif. Only this setting gives generic families a meaning
// per script. The faces, and their order for each language, are in fonts/fonts.conf.

type Families = { standard?: string; serif?: string; sansSerif?: string; fixed?: string }

/** `region` as in the names of Noto's CJK faces. */
const cjk = (region: string): Families => ({ serif: `Noto Serif CJK ${region}`, fixed: `Noto Sans Mono CJK ${region}` })

const serif = (name: string): Families => ({ serif: `Noto Serif ${name}` })

/** Generic families by script (ISO 15924). `standard` draws letters that a face lacks; its default is Times New Roman. */
const SCRIPTS: Record<string, Families> = {
  Jpan: cjk('JP'),
  Hans: cjk('SC'),
  Hant: cjk('TC'),
  Hang: cjk('KR'),
  Thai: serif('Thai'),
  Deva: serif('Devanagari'),
  Beng: serif('Bengali'),
  Guru: serif('Gurmukhi'),
  Gujr: serif('Gujarati'),
  Taml: serif('Tamil'),
  Telu: serif('Telugu'),
  Knda: serif('Kannada'),
  Mlym: serif('Malayalam'),
  Sinh: serif('Sinhala'),
  Laoo: serif('Lao'),
  Khmr: serif('Khmer'),
  Mymr: serif('Myanmar'),
  Ethi: serif('Ethiopic'),
  Armn: serif('Armenian'),
  Geor: serif('Georgian'),
  Hebr: serif('Hebrew'),
  // Chromium has one script for Arabic and Urdu, whose serif faces differ. fonts.conf chooses those by language, so only the sans-serif
  // face is here. Arial draws Latin letters, which that face lacks.
  Arab: { sansSerif: 'Noto Sans Arabic', standard: 'Arial' },
}

const FONT_FAMILIES = {
  fontFamilies: {},
  forScripts: Object.entries(SCRIPTS).map(([script, fontFamilies]) => ({ script, fontFamilies })),
}

/** Gives serif text of each script a serif face. Can be called once per session. */
export async function setFontFamilies(session: DevTools): Promise<void> {
  await session.send('Page.setFontFamilies', FONT_FAMILIES)
}
