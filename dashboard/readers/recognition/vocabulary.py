"""Every word list of the readers, and how a heading is split into words.

Words are folded: small letters without accents. Lists of stems fit every word that begins with one
of them, so that "readmi" is of "readmitted" and "readmission"; long stems are also found inside
the compounds of German and Dutch. Languages: English, German, French, Spanish, Italian, and some
Dutch and Portuguese. No list need be whole: what columns say together counts for more.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

_LONGEST = 200
_PARTS = re.compile(
    r"(?<![^\W_])-\d+|\d+|[A-ZÀ-ÖØ-Þ]+(?![a-zß-öø-ÿ])|[^\W\d_](?:(?![A-ZÀ-ÖØ-Þ])[^\W\d_])*|%"
)
_INSIDE = 6
"""Letters of a stem that is looked for inside words too."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _stems(words: str) -> tuple[str, ...]:
    return tuple(words.split())


# Names of arrays, and of columns, compared as whole names (`key_of`).
CLASS_NAME_KEYS = _set("""
    class_names classes target_names label_names classes_ classnames class_list class_order
    id2label label2id id_to_label label_to_id idx_to_class class_to_idx
""")
LABEL_KEYS = _set("""
    label labels target targets y y_true true_label true_labels ground_truth label_ids truth gt
    gts groundtruth ytrue true_y y_actual actuals trues truths class true actual obs true_class
    actual_class target_class class_label gold gold_label gold_labels y_test y_val y_obs outcome
    y_real actual_label correct_label correct_class correct_answer expected_label observed_class
    wahre_klasse vraie_classe clase_real classe_reale
""")
WEAK_LABEL_KEYS = _set("""
    annotation annotations answer category cible class_id class_ids classe clase classid dependent
    diagnosis etiqueta event expected klasse outcomes ref reference references response species
    status ergebnis resultado risultato resultat true_classes ys zielvariable etiquette ziel
    zielgrosse esito desfecho variable_cible uitkomst ausgang actual_labels human_label label_id
    label_idx label_true labels_int labels_true manual_label observed real target_label
    target_labels gt_label gt_labels gt_class ground_truth_label ground_truth_labels result
    results finding verdict gold_standard eval evaluation
""")
TABLE_KEYS = _set("""
    logit logits output outputs prob probs probability probabilities proba y_prob y_proba y_pred
    pred preds prediction predictions probas predict_proba y_pred_proba y_logits class_probs
    class_probabilities softmax
""")
WEAK_TABLE_KEYS = _set("scores y_score y_scores x values confidences y_hat confs")
INDEX_KEYS = _set("""
    index id ids idx row rows rowid row_id rowindex row_index sample sample_id image_id rownames
    unnamed:_0 __index_level_0__ filename file path name image
""")
PREDICTED_KEYS = _set("""
    pred_label predicted_label prediction predicted pred y_pred pred_class .pred_class
    predicted_class y_hat yhat predict prediction_label scored_labels hypothesis _into_ preds
    predictions argmax model_answer top1 top1_class vorhersage klasse_vorhersage prevision
    prediccion predizione previsao voorspelling decision estimate model_label
""")
_UNIT = r"(?:_?(?:time|days?|weeks?|months?|mos?|years?|yrs?|tage|monate|jahre|jours|mois))"
FOLLOWED = re.compile(
    rf"(?:time|follow_?up|fu|fup|futime|surv|survival|os|pfs|dfs|rfs|efs|tte|nachbeobachtung"
    rf"|beobachtungszeit|uberlebenszeit|suivi|seguimiento){_UNIT}*"
    r"|(?:time|days|weeks|months|years)_(?:to|until)_"
    r"(?:event|death|dead|censor\w*|relapse|recurrence|default|churn|failure|exit|last\w*|follow\w*)"
)
"""What a time is called for which a row was followed, as for a survival analysis."""

STATUS_KEYS = _set("status event censored censor cens vital_status")
"""Beside which a bare "time" is one; of other outcomes it may be that of a transaction."""

ANSWER_KEYS = _set("answer answers response responses output completion generation reply")
"""What a model said, beside a column that is called the truth."""

CONFIDENCE_KEYS = _set("""
    conf max_prob top1 top_1 top1_score top1_prob confs top1conf top1_conf prediction_score
    max_softmax max_probability msp max_proba top_prob sicherheit
""")
CORRECT_KEYS = _set("""
    correct hit hits is_correct corrects correct? correctness is_right exact_match right accuracy
    accuracies acc matched is_match richtig ist_richtig korrekt juste correcto acierto corretto
    correto was_correct prediction_correct pred_correct
""")

# Words of a heading.
LABEL_WORDS = _set("""
    label labels target targets gt truth truths true actual gold observed real obs outcome outcomes
""")
MARK_WORDS = _set("is has issue issues error errors quality mask weight weights noise flag")
"""Words of headings that say something of the labels."""
VALUE_WORDS = _set("""
    logit logits prob probs proba probas probability probabilities softmax score scores
""")
PREDICTION_WORDS = _set("""
    pred preds predicted prediction predictions predict yhat into pgr classification decision
    suggestion suggested suggests vorschlag ai ki
    decided alert alarm flagged forecast vorhersage vorhergesagt prognose predit predite predicho
    prediccion predetto previsione previsto voorspeld entscheidung recommended recommendation
""")
CONFIDENCE_STEMS = _stems("confiden konfiden confian certain")
CORRECT_STEMS = _stems("correct korrekt richtig corret acierto juste right hit hits acc accurac")
SURE_SCORE_STEMS = _stems("""
    prob logit softmax wahrscheinlich waarschijnlijk propensity likelihood confidence certainty
""")
"""Stems of words that hardly stand for anything else."""

RISK_STEMS = _stems("risk risiko risque riesgo rischio risco risico ryzyk hazard")
SCORE_STEMS = (*SURE_SCORE_STEMS, *RISK_STEMS, *_stems("""
    scoring konfidenz confian predic predit previs progno pronost voorspel vorhers punt kans score
    scores chance wahrsch wkt posterior fitted expected estimate forecast pred preds proba yhat
    ypred phat p pr pd pop output raw model modell modele modelo modello logodds odds linpred lp
    conf logprob
"""))  # fmt: skip
LOGIT_WORDS = _set("logit logits logprob logprobs logodds odds lp linpred margin decision linear")
PERCENT_WORDS = _set("""
    pct percent percentage prozent pourcent pourcentage porcentaje percentuale perc %
""")
RELATIVE_WORDS = _set("log odds per relative factors")
"""Words beside risk and percent that say it is no probability."""

CLASS_WORDS = _set("class classe klasse clase label category kategorie cat name idx index k c")
CLASS_LIST_WORDS = _set("names labels classes categories")
COUNT_KEYS = _set("""
    freq frequency count counts cnt fnlwgt w n obs_count row_count reps wt wts wgt sw pw
    count_star anzahl antal aantal nombre numero cantidad effectif effectifs frequenz haufigkeit
""")
_HOW_MANY = _set("n num number nb count anzahl antal aantal nombre numero cantidad")
_COUNTED = _set("""
    row obs observation record sample case people zeile falle personen individual ligne ca
""")
"""What is counted, beside whom rows may belong to, where a row stands for several."""

WEIGHT_STEMS = _stems("weight wichtung wt wts wgt gewicht poids peso ponder")
SURE_WEIGHT_STEMS = _stems("""
    ipw iptw ipcw pweight fweight aweight iweight gewichtungsfaktor hochrechnung wtmec wtint wtsaf
    llcpwt
""")
BODY_STEMS = _stems("""
    body birth korper geburt naissance overweight underweight kg g lb lbs pounds oz loss gain
""")
WEIGHED_WORDS = _set("""
    sample samples case survey row rows obs instance design final class inverse prob probability
    propensity sampling person replicate importance ipw iptw ip train training exposure
""")
"""Words beside that of a weight which say that it is of rows."""
ODDS_WORDS = _set("odds moneyline odd quote quoten cote cuota quota")
RANK_WORDS = _set("top rank rang guess")
UNSURE_STEMS = _stems("""
    n count counts support
    std sd stderr variance var entropy lower upper lo hi ci lcl ucl uncertain brier nll error
    threshold
""")
MEASURE_STEMS = _stems("""
    age alter edad eta year jahr anno ano annee month monat mois mes amount betrag montant monto
    importo importe price preis prix precio prezzo cost kosten cout coste costo income einkommen
    revenu ingreso reddito salary gehalt umsatz sales balance saldo limit count anzahl nombre
    numero numb qty quantity menge pressure druck presi press bp sbp dbp temp celsius humid feucht
    wind mm cm km kg weight gewicht poids peso height taille bmi duration dauer duree durata days
    tage jours dias giorni dagen hours stunden heures minut weeks wochen lab creatinin kreatinin
    glucose hba lactat laktat troponin sodium potassium albumin crp ldl hdl heart pulse puls spo
    rate ratio quote share anteil usage util auslast lgd ead ltv dti distan size lat lon lng
    latitude longitude zip plz tenure visits points grade note nota gpa credits band decile dezil
    percentile quantile rank rang fold seed epoch batch threshold schwelle seuil umbral cutoff
    lower upper ci std sd stderr variance var entrop uncertain loss latency time timestamp zeit
    los discount rabatt remise fico exposure elapsed attendance depth speed volume level niveau
    verweildauer liegedauer aufenthalt laufzeit term eur usd gbp chf precip brier nll energy
    perplexity items pages dose mg ml fee tax premium change delta diff residual error area
    surface num config
""")
"""Stems of words for numbers that mean something else."""

GROUP_STEMS = _stems("""
    sex gender geschlecht genre sexe sexo sesso geslacht region regio land country pays pais paese
    state city stadt ville ciudad citta treat behandl arm trait trat smok rauch fume fuma roker
    married verheirat marie casad sposat employ insur versich assur asegur retire vaccin geimpft
    prior previous vorher antec site center centre zentrum ward station hospital clinic klinik
    department abteilung service branch filiale channel kanal canal segment device os browser race
    ethnic group gruppe groupe grupo gruppo type typ tipo kind urban rural weekend holiday
    feiertag night member mitglied membre socio
    newsletter product produkt produit plan tarif tier contract partner sdmv psu strat
    dependents senior school schule ecole escuela grade course subject language sprache langue
    model modell version fold cluster level season saison day weekday shift transport payment
    method homeowner mobile online elective comorbid marital visitor source campaign family obese
    pregnan icu emergenc vip gold silver public private paperless staffel area district bezirk
    zone sector industry referr male female loyal promo coupon gift domestic foreign has had
""")
"""Stems of words for what describes rows but does not happen."""

EVENT_STEMS = _stems("""
    event evenem success occur bad readmi default charged churn died dead death deceas mortal fraud
    relaps recid rezidiv convert conversion click purchas bought buy cancel attrit fail pass
    respon rain snow storm flood late delay dropout graduat delinqu arrear bankrupt insolv infect
    infezion infeccion fake relev
    sepsis bleed stroke complicat recurr progress cancer malign tumor tumour disease sick ill
    positive return refund escalat accept approv admit won win lost left quit gone subscrib signup
    open complain claim injur accident attack abnormal anomal breach spam phish toxic noshow
    missed no-show no_show inactive closed broken faulty crash defect defekt fehler sold hired
    case hospital verstorb gestorb tod tot todes ausfall ausgefall kuendig kundig gekuend gekund
    kauf gekauft storn abgesagt wiederaufnahme betrug rueckfall ruckfall bestand durchgefall
    abbruch bads regen schnee reklam retour verspat verspaet krank erkrank decede deces mort murio
    muert fallec baja abandon impag impay mora moroso defaut resili rehosp reingres ricover
    riammes rechute recaida ricaduta fraude frod achat achet compr acquist lluvi pluie piogg chuva
    overleden opgezegd heropname wanbetal deced decess reussi admis recu echou aprob suspend promoss
    bocciat reprov obito inadimpl cancelad annul rembours devol storung stoerung panne fallo
    averia guasto gesturzt fall fell sturz verkauft upsold upsell malad
""")
"""Stems of words for an event, in headings that say if it happened and in cells."""

QUIET_STEMS = _stems("""
    alive surviv stay legit genuine ok okay healthy ham benign active current paid repaid good
    negative none no not control normal lebt lebend leben living aktiv gesund genes vivant vivo
    viva sano sain ontime on_time on time retained kept absent rejected bezahlt zuruckgezahlt
    geblieben renew pagado paye al_corriente actif activo attivo sobrevi dry trocken sec seco rest
    continu regular intact fine pagato rimast levend betaald nicht shown show attended present
    erschienen gekomm uneventful
""")
"""Stems of words for its absence."""

NOT_HAPPENED = _set("""
    predicted estimated expected calibrated adjusted weighted based created updated related need
    speed bed red med scheduled planned assigned rated unused used fitted normalized scaled
    recommended flagged observed confirmed dated verified registered edited alert received invited
    offered
""")
"""Words that end like an event and are none."""

NEITHER_STEMS = _stems("""
    follow ltfu censor zensier pending ongoing withdr transf moved verzogen verlegt void tie tied
    draw drawn push unclear unklar unsure undeterm indeterm inconclus equivoc borderline offen
    unentschied remis perdu egal empate pareggio invalid ungultig maybe perhaps vielleicht peut
    quiza forse undecid know sabe weiss ignor skip abstain exclud ausgeschl
""")
"""Stems of words for an outcome that is neither of two."""

OPEN_WORDS = "open", "lost"
"""Words for an outcome that is neither of two others: not known yet, or not any more."""

NEITHER_NUMBERS = _set("""
    0.5 -1 7 8 9 77 88 97 98 99 255 777 888 999 9999 -7 -8 -9 -77 -88 -99 -100 -777 -888 -999 -9999
""")
"""Ties, and codes for what is not known."""

PRIOR_WORDS = _set("""
    prior previous previously past last before history earlier vorher fruher anterior antecedent
    precedent precedente had ever baseline historical
""")
SURE_ID_WORDS = _set("""
    id ids nr uuid guid index idx rowid key mrn identifier kennung identifiant pid sid uid
    matrikel filename kundennr fallnr nummer
""")
ID_WORDS = SURE_ID_WORDS | _set("""
    no num number numero row case fall case_no patient customer kunde client cliente account konto
    order ticket record ref code reference identificador caso dossier aktenzeichen name file path
    image sample email url loan student
""")  # fmt: skip
OWNER_WORDS = _set("""
    patient subject participant respondent person customer client user member student employee
    applicant borrower household donor animal
""")
"""What rows may have in common; alone these are its names, not its number."""

ITEM_WORDS = _set("""
    loan account case order ticket question event item image claim contract device stay admission
    encounter game matchup session race file document utterance recording
""")
LIMIT_WORDS = _set("lower upper low high lo hi lwr upr lcl ucl lb ub")
"""What the ends of an interval are called."""

MODEL_WORDS = _set("""
    model models algorithm algo classifier system estimator method modell modele modelo modello
    algorithmus algorithme algoritmo klassifikator
""")
"""What makes scores, several of which may have scored the same rows."""

_NUMBER_WORDS = _set("no num number numero code ref identificador name")
_OWNERS_ABROAD = _set("""
    proband probanden patienten kunde kunden kundennr fall fallnr cliente paciente paziente sujeto
    persona patiente pat subj utt
""")
_NUMBERED = re.compile(r"(.{3,}?)(nr|nummer)")
"""As numbers are called in one word, such as that of a patient."""
_NO_IDS = _set("index idx key")
_GROUP_WORDS = _set("group groups cluster clusters gruppe gruppen groupe grupo gruppo")
DATE_WORDS = _set("""
    date datum data fecha day tag jour dia timestamp datetime zeitpunkt time zeit month monat mois
    mes mese quarter quartal trimestre week woche geburtstag dob
""")

# Words in cells.
MISSING = _set("""
    na n/a n/d n.d. nd s/d n.a. n.v. nan null - -- --- . .. ? ?? missing unknown unbekannt inconnu
    k.a. #n/a
""")
MISSING_TEXTS = MISSING | {
    "", "k. a.", "n. a.", "keine angabe", "non renseigne", "sin dato", "not available", "no data",
    "fehlt",
}  # fmt: skip
"""Folded texts of cells without a value."""

YES = _set("""
    yes y true t 1 1.0 + correct right richtig korrekt
    positive pos ja j wahr oui o vrai si s verdadero vero sim verdadeiro
    positiv positif positivo event case present detected x tak ano igen evet da
""")
NO = _set("""
    no n false f 0 0.0 - incorrect wrong inkorrekt
    negative neg nein falsch non faux falso nao nee negativ negatif negativo
    control absent none normal -1 not nie ne nem nej hayir
""")
CASE_VALUES = _set("""
    case cases control controls fall falle kontrolle kontrollen cas temoin temoins caso casos
    controle controles control controllo casi controlli
""")
"""Cells of those that were chosen because the event happened to them, or did not."""

_SAY_YES = _set("yes y true t 1 1.0 ja j oui o si s sim wahr vrai verdadero vero pos positive")
_SAY_NO = _set("no n false f 0 0.0 nein nee non faux falso nao falsch neg negative")

# Sets.
CALIBRATION = _set(
    "cal calib calibration val valid validation validate dev tune tuning validierung"
    " kalibrierung calibrage validacion calibrazione"
)
TEST = _set(
    "test eval testing evaluation evaluate tst holdout heldout oot oos blind unseen prueba prova"
)
TRAINING = _set("train training trn insample entrenamiento entrainement addestramento trainieren")
DEVELOPMENT = _set("dev development")
"""Rows to tune on beside those for training; those for training beside rows to validate on."""

IN_CELLS = {
    "training": _set("""
        build learn learning fit fitting ins development modelling modeling estimation
        entwicklung developpement desarrollo sviluppo apprentissage aprendizaje
    """),
    "test": _set("score scoring"),
}
"""What says so of rows in a cell, but not in the name of a file or of a column."""

SET_COLUMNS = _set(
    "split set subset partition dataset phase usage role menge stage ensemble sample_type"
    " data_type"
    " partind fold_type sample conjunto particion muestra stichprobe"
)
BESIDE_SETS = _set("set split data sample menge cohort")
FLAG_WORDS = _set("is in flag ind indicator")
"""Words beside that of a set in the name of a column of yes and no."""

SURE_FLAGS = _set("train holdout heldout oot oos insample")
FLAGS = SURE_FLAGS | _set("training test testing val validation cal calibration")
"""Sets that the name of such a column may say alone, or beside those words: a test may be one of
patients."""

FURTHER = _set("""
    tune tuning tst holdout heldout oot oos blind unseen extra other additional second
""")
"""Words of sets that stand beside a calibration and a test set in some files."""
SEVERAL = (
    ("hold_out", "holdout"), ("held_out", "heldout"), ("out_of_time", "oot"),
    ("out_of_sample", "oos"), ("in_sample", "insample"), ("part_ind", "partind"),
)  # fmt: skip


@lru_cache(maxsize=20_000)
def folded(text: str) -> str:
    """Return a text in small letters, without accents and blanks around it.

    >>> folded(" Gekündigt "), folded("Größe")
    ('gekundigt', 'grosse')
    """
    text = " ".join(text[:_LONGEST].split()).lower().replace("ß", "ss")
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    seen = (char for char in apart if unicodedata.category(char) not in ("Mn", "Cf"))
    return " ".join("".join(seen).split())


def spans_of(name: str) -> list[tuple[int, int]]:
    """Return where the words of a heading begin and end.

    >>> [("pYes_30d")[start:end] for start, end in spans_of("pYes_30d")]
    ['p', 'Yes', '30', 'd']
    """
    return [match.span() for match in _PARTS.finditer(name[:_LONGEST])]


@lru_cache(maxsize=20_000)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a heading, folded.

    >>> words_of("Predicted-Risk (%)"), words_of("scoreV2"), words_of("rückfall_30d")
    (('predicted', 'risk', '%'), ('score', 'v', '2'), ('ruckfall', '30', 'd'))
    """
    return tuple(folded(name[start:end]) for start, end in spans_of(name))


def is_owner(words: Iterable[str]) -> bool:
    """Return whether a heading is of something that several rows may belong to, by name or number.

    >>> is_owner(["patient"]), is_owner(["loan", "no"]), is_owner(["loan"]), is_owner(["mrn"])
    (True, True, False, True)
    >>> is_owner(["patientennr"])
    True
    """
    own = _parted(words)
    owners = OWNER_WORDS | _OWNERS_ABROAD
    numbered = own & (owners | ITEM_WORDS) and own & (_NUMBER_WORDS | SURE_ID_WORDS)
    return bool(numbered or (own and own <= owners | (SURE_ID_WORDS - _NO_IDS)))


def _parted(words: Iterable[str]) -> set[str]:
    parts = (match.groups() if (match := _NUMBERED.fullmatch(w)) else (w,) for w in words)
    return {*chain.from_iterable(parts)}


def is_unit(words: Iterable[str]) -> bool:
    """Return whether a heading is of a number of something, or of what many rows may be of.

    >>> is_unit(["ifp", "id"]), is_unit(["loan"]), is_unit(["index"]), is_unit(["loan", "amount"])
    (True, True, False, False)
    """
    own = _parted(words)
    return bool(own & (SURE_ID_WORDS - _NO_IDS)) or (bool(own) and own <= ITEM_WORDS)


def is_no_quantity(words: Iterable[str]) -> bool:
    """Return whether whole numbers under a heading are names, of which ranges say nothing."""
    own = {*words}
    return is_owner(own) or bool(own & (SURE_ID_WORDS - _NO_IDS | _GROUP_WORDS))


def key_of(name: str) -> str:
    """Return the spelling in which whole names are compared.

    >>> key_of(" True-Label "), key_of("rowIndex")
    ('true_label', 'row_index')
    """
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", name.strip()[:_LONGEST])
    return re.sub(r"[\s\-]+", "_", folded(spaced))


def begins(words: Iterable[str], stems: tuple[str, ...]) -> bool:
    """Return whether a word begins with one of some stems, or a long word contains a long one.

    A stem of up to three letters must be the whole word.
    """
    long, inside = _longer(stems)
    return any(
        w in stems or w.startswith(long) or (len(w) >= _INSIDE and any(s in w for s in inside))
        for w in words
    )


@lru_cache
def _longer(stems: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one for one in stems if len(one) >= least) for least in (4, _INSIDE))


def one_yes(keys: Sequence[str]) -> list[str]:
    """Return folded texts, where they say yes and no in more than one way each as the first does.

    >>> one_yes(["no", "y", "yes", ""]), one_yes(["yes", "no", "perhaps"])
    (['no', 'y', 'y', ''], ['yes', 'no', 'perhaps'])
    """
    different = [key for key in dict.fromkeys(keys) if key]
    firsts = [next((key for key in different if key in own), "") for own in (_SAY_YES, _SAY_NO)]
    if len(different) < 3 or not all(firsts) or not {*different} <= _SAY_YES | _SAY_NO:
        return [*keys]
    return [firsts[key in _SAY_NO] if key else "" for key in keys]


def missing_among(keys: Iterable[str]) -> frozenset[str]:
    """Return the folded texts that stand for no value among others, "-" unless there is a "+"."""
    return MISSING_TEXTS - {"-"} if "+" in keys else MISSING_TEXTS


def set_of(text: str) -> str | None:
    """Return which set a name or a cell names: calibration, test, training, or none.

    >>> set_of("val"), set_of("Test set"), set_of("train"), set_of("test site"), set_of("oot")
    ('calibration', 'test', 'training', None, 'test')
    >>> set_of("In-sample"), set_of("Build"), set_of("Score")
    ('training', 'training', 'test')
    """
    words = {*set_words_of(text)} - BESIDE_SETS
    if len(words) != 1:
        return None
    lists = {"calibration": CALIBRATION, "test": TEST, "training": TRAINING}
    lists = {name: known | IN_CELLS.get(name, frozenset()) for name, known in lists.items()}
    return next((name for name, known in lists.items() if words <= known), None)


def sets_of(texts: Sequence[str]) -> list[str | None]:
    """Return which set each of the different cells of a column names, as `set_of`.

    >>> sets_of(["development", "validation"]), sets_of(["train", "development", "test"])
    (['training', 'calibration'], ['training', 'calibration', 'test'])
    """
    named = [set_of(text) for text in texts]
    developed = [not DEVELOPMENT.isdisjoint(set_words_of(text)) for text in texts]
    others = {of for of, is_developed in zip(named, developed, strict=True) if not is_developed}
    beside = next((of for of in ("training", "calibration") if of in others), None)
    meant = {"training": "calibration", "calibration": "training", None: None}[beside]
    return [
        (meant or of) if is_developed else of
        for of, is_developed in zip(named, developed, strict=True)
    ]


@lru_cache(maxsize=1000)
def set_words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, of which those of a set that are several count as one.

    >>> set_words_of("out-of-time probs"), set_words_of("train sample")
    (('oot', 'probs'), ('train', 'sample'))
    """
    line = "_".join(words_of(name))
    for several, one in SEVERAL:
        line = re.sub(f"(?<![a-z]){several}(?![a-z])", one, line)
    return tuple(word for word in line.split("_") if word)


def is_called_odds(name: str) -> bool:
    """Return whether a heading is of the odds of a bet, which are no logarithms of odds."""
    words = {*words_of(name)}
    return bool(words & ODDS_WORDS) and not words & {"log", "ln"}


def are_weights(words: Iterable[str]) -> bool:
    """Return whether a heading is of weights of rows, not of bodies and goods.

    >>> [are_weights(words_of(name)) for name in ("sample_weight", "ipw", "weight_kg", "weights")]
    [True, True, False, True]
    """
    own = {*words}
    weighed = own & WEIGHED_WORDS and begins(own, WEIGHT_STEMS)
    return bool(weighed or own == {"weights"} or begins(own, SURE_WEIGHT_STEMS))


def are_counts(words: Sequence[str]) -> bool:
    """Return whether a heading is of how many rows a row stands for, or of how many people.

    >>> [are_counts(words_of(name)) for name in ("count(*)", "n_patients", "Anzahl", "n_visits")]
    [True, True, True, False]
    """
    own = [word for word in words if word not in ("of", "de", "der")]
    nouns = _COUNTED | OWNER_WORDS | _OWNERS_ABROAD
    of_rows = bool({own[-1], own[-1].removesuffix("s")} & nouns) if own else False
    return "_".join(words) in COUNT_KEYS or (len(own) == 2 and own[0] in _HOW_MANY and of_rows)
