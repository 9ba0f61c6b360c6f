"""Ordinary tables by chance: other headings, languages, orders and columns beside them."""

import random
from collections.abc import Iterator

from tests.readers.ordinary_making import Ordinary, make_table

_OUTCOMES = {
    "en": """
        fell_in_hospital|Yes,No; died_within_90d|1,0; reoffended|true,false; bought|1,0;
        went_bankrupt|Y,N; flooded|yes,no; hospitalised|1,0; cancelled|True,False; stroke|0/1;
        outcome_12m|event,no event; passed|1,0; is_fraud|0/1; germinated|yes,no; escalated|0/1;
        complication|present,absent; sold|sold,unsold; state_after_1y|deceased,living; late|0/1;
        infected|POS,NEG; repaid|no,yes; match_won|1,0; re-admission|Y,N; label|1,0; target|0/1;
        Defaulted?|Yes,No; converted|TRUE,FALSE; claim_made|1,0; broke_down|yes,no; y|1,0;
        loan_status|charged off,fully paid; survived|1,0; Class|fraud,genuine; lapsed|Y,N;
        responded|1,0; relapse_6m|yes,no; toxic|0/1; admitted|yes,no; ground_truth|1,0
    """,
    "de": """
        verstorben|ja,nein; Ausfall_12M|1,0; gekauft|ja,nein; Sturz|ja,nein; Betrug|0/1;
        Komplikation|ja,nein; Prüfung|bestanden,nicht bestanden; storniert|J,N;
        Befund|positiv,negativ;
        Zahlung|ausgefallen,bezahlt; Rückfall|ja,nein; Kündigung erfolgt|ja,nein; krank|1,0;
        Hochwasser|ja,nein; Reklamation|1,0; Ereignis|1,0; eingetreten|wahr,falsch;
        Infektion|ja,nein
    """,
    "fr": """
        décédé|oui,non; défaut|1,0; acheté|oui,non; rechute|oui,non; fraude|0/1; panne|oui,non;
        résultat|reçu,échoué; annulé|oui,non; statut|perdu,actif; chute|oui,non; sinistre|1,0;
        réadmission_30j|oui,non; événement|1,0; infecté|vrai,faux; orage|oui,non; en_retard|oui,non
    """,
    "es": """
        fallecido|sí,no; impago|1,0; compró|sí,no; fraude|0/1; recaída|sí,no; abandono|si,no;
        estado|fallecido,vivo; resultado|aprobado,suspendido; avería|1,0; lluvia|sí,no;
        evento|1,0; siniestro|sí,no; reingreso_30d|SI,NO; cancelado|verdadero,falso
    """,
    "it": """
        deceduto|sì,no; insoluto|1,0; acquistato|sì,no; frode|0/1; recidiva|sì,no; guasto|si,no;
        esito|promosso,bocciato; disdetta|1,0; pioggia|sì,no; evento|1,0; stato|deceduto,vivo;
        sinistro|vero,falso; riammissione|sì,no; infezione|1,0
    """,
    "nl": "overleden|ja,nee; wanbetaling|1,0; gevallen|ja,nee; fraude|0/1; geslaagd|ja,nee;"
    " regen|1,0",
    "pt": "óbito|sim,não; inadimplente|1,0; comprou|sim,não; fraude|0/1; falha|sim,não; evento|1,0",
}  # fmt: skip
_SCORES = {
    "en": "p;prob;probability;risk;predicted_risk;model_score;risk_score;pred_prob;phat;y_score;"
    "predicted probability;score;p_event;proba;estimated_risk;xgb_prob;p_hat;model_output;"
    "forecast_prob;likelihood;Predicted Risk;prediction;pred;output",
    "de": "Wahrscheinlichkeit;Risiko;Score;p;Prognose;Modellscore;Vorhersage;Risikowert;Wkt;Prob",
    "fr": "probabilité;risque;score;proba;p;risque_prédit;prédiction;score_modèle;proba_estimée",
    "es": "probabilidad;riesgo;puntuación;p;prob;riesgo_estimado;predicción;score;prob_modelo",
    "it": "probabilità;rischio;punteggio;p;prob;rischio_stimato;previsione;score;prob_modello",
    "nl": "kans;risico;score;p;voorspelling;risicoscore",
    "pt": "probabilidade;risco;score;p;previsão;prob",
}
_PERCENT = {
    "en": "risk_pct;probability_percent;risk (%);score_percent;Risk in %;pred_risk_pct;chance_%",
    "de": "Risiko (%);Wahrscheinlichkeit_%;Risiko_Prozent;Score in %",
    "fr": "risque_%;probabilité (%);risque_pct;risque en %",
    "es": "riesgo_%;probabilidad (%);riesgo_pct",
    "it": "rischio_%;probabilità (%);rischio_perc",
    "nl": "risico_%;kans (%);risico_pct",
    "pt": "risco_%;probabilidade (%);risco_pct",
}
_BESIDE = {
    "en": """
        patient_no=id; visit_date=date:%Y-%m-%d; hospital=pick:St Mary,City,North;
        age=num:18,95,0,0.3;
        sex=pick:F,M; bmi=num:17,45,1; smoker=flag:yes,no; prior_events=count:2;
        creatinine=num:0.4,4,2;
        sys_bp=num:90,190,0; temp_c=num:35,41,1; postcode=id:%05d; income=amount:30000,0;
        balance=amount:900,2; year=num:2012,2023,0; month=pick:1,2,3,4,5,6,7,8,9,10,11,12;
        comment=note; nurse=person; score_band=band:low,medium,high; risk_group=band:1,2,3,4,5;
        insured=flag:1,0; urban=flag:True,False; weight_kg=num:45,120,1; days_open=count:9;
        discount_rate=num:0,0.5,2; humidity=num:0.2,1,2; albumin=num:2,5,1; gpa=num:1,4,2;
        channel=pick:web,phone,shop; treated=flag:1,0; fold=pick:0,1,2,3,4; uuid=hex;
        created_at=date:%m/%d/%Y %H:%M; price=amount:20,2; rating=pick:1,2,3,4,5; vip=flag:Y,N;
        model=pick:v1,v2; distance_km=num:0.2,40,1; lab_ph=num:7,7.6,2; occupancy=num:0,1,2;
        std_error=num:0.01,0.2,3; threshold=num:0.5,0.5,1; hours=num:0,60,1; rank=n;
        ward_no=pick:3,4,7;
        deposit_ratio=num:0,1,3; uplift_segment=pick:A,B,C,D; married=flag:yes,no; n_items=count:4
    """,
    "de": """
        Fall_Nr=id; Aufnahme=date:%d.%m.%Y; Alter=num:18,95,0,0.3; Geschlecht=pick:m,w;
        Filiale=id:%03d;
        Betrag=amount:800,2; Blutdruck=num:90,190,0; Kreatinin=num:0.4,4,2;
        Bundesland=pick:BY,NW,HH;
        Raucher=flag:ja,nein; PLZ=id:%05d; Bemerkung=note; Jahr=num:2015,2023,0; Anzahl=count:3;
        Risikoklasse=band:niedrig,mittel,hoch; Gewicht=num:45,120,1; Neukunde=flag:1,0;
        Auslastung=num:0,1,2; Monat=pick:Jan,Feb,Mrz; versichert=flag:ja,nein; Laufende_Nr=n
    """,
    "fr": """
        dossier=id; date_entrée=date:%d/%m/%Y; âge=num:18,95,0,0.3; sexe=pick:H,F;
        code_postal=id:%05d;
        montant=amount:800,2; tension=num:90,190,0; créatinine=num:0.4,4,2; fumeur=flag:oui,non;
        région=pick:Sud,Nord,Est; remarque=note; année=num:2015,2023,0; classe_risque=band:A,B,C;
        poids=num:45,120,1; assuré=flag:1,0; taux_occupation=num:0,1,2; nb_visites=count:3
    """,
    "es": """
        expediente=id; fecha=date:%d/%m/%Y; edad=num:18,95,0,0.3; sexo=pick:H,M;
        código_postal=id:%05d;
        importe=amount:800,2; tensión=num:90,190,0; fumador=flag:sí,no; región=pick:Norte,Sur;
        nota=note; año=num:2015,2023,0; banda=band:baja,media,alta; peso=num:45,120,1;
        visitas=count:3;
        asegurado=flag:1,0; ocupación=num:0,1,2
    """,
    "it": """
        pratica=id; data=date:%d/%m/%Y; età=num:18,95,0,0.3; sesso=pick:M,F; cap=id:%05d;
        peso=num:45,120,1;
        importo=amount:800,2; pressione=num:90,190,0; fumatore=flag:sì,no;
        regione=pick:Nord,Sud,Isole;
        nota=note; anno=num:2015,2023,0; fascia=band:bassa,media,alta; visite=count:3;
        socio=flag:1,0
    """,
    "nl": "dossiernr=id; datum=date:%d-%m-%Y; leeftijd=num:18,95,0,0.3; geslacht=pick:m,v;"
    " bedrag=amount:90,2; postcode=id:%04dAB; roker=flag:ja,nee; regio=pick:Noord,Zuid;"
    " jaar=num:2015,2023,0",
    "pt": "processo=id; data=date:%d/%m/%Y; idade=num:18,95,0,0.3; sexo=pick:M,F; "
    " valor=amount:90,2; cep=id:%08d; fumante=flag:sim,não; região=pick:Norte,Sul;"
    " ano=num:2015,2023,0",
}  # fmt: skip
_CLASSES = """
    setosa,versicolor,virginica; win,draw,loss; low,medium,high; red,green,blue; AA,A,BBB,BB,B,CCC;
    Hund,Katze,Maus; chat,chien,oiseau; home,rehab,nursing home,died; normal,viral,bacterial;
    happy,sad,angry,neutral; car,bus,bike,truck,person; I,II,III,IV; T1,T2,T3; gato,perro,ave;
    zero,one,two,three,four,five,six,seven,eight,nine; wheat,maize,barley; Nord,Süd,Ost,West
"""
_CLASS_HEADINGS = "*;p_*;prob_*;P(*);proba.*;* prob;logit_*!;logits.*!;*_logit!;* (%)%;score_*"
_NUMBER_HEADINGS = "p_#;prob_#;#;class_#;logit_#!;logits_#!;p#;probability_#"
_TRUTHS = (
    "label;true_label;target;y_true;actual;truth;class;category;ground truth;Klasse;clase;vrai"
)
_PREDICTED = "pred;prediction;predicted;predicted_label;y_pred;model_class;Vorhersage;prédit"
_CONFIDENCES = "confidence;conf;max_prob;score;probability;top_prob;Konfidenz;confiance;p_max"
_CORRECT = "correct|1,0; is_correct|True,False; right|yes,no; hit|1,0; richtig|ja,nein; acc|1,0"


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _beside(dice: random.Random, language: str, taken: set[str]) -> list[str]:
    """Draw columns that mean something else."""
    pool = [part for part in _parts(_BESIDE[language]) if part.split("=")[0].lower() not in taken]
    chosen = dice.sample(pool, min(len(pool), dice.choice((0, 1, 2, 3, 4, 5, 6, 8))))
    return [part.replace("=", " = ", 1) for part in chosen]


def _event(dice: random.Random, language: str) -> list[str]:
    """Draw an outcome of two values and its score."""
    heading, _, words = dice.choice(_parts(_OUTCOMES[language])).partition("|")
    outcome = f"{heading} = outcome:{words if words != '0/1' else '1,0'}"
    luck = dice.random()
    if luck < 0.2:
        kind = dice.choice(("percent:1", "percent:0", "signed:1", "signed:0"))
        return [f"{dice.choice(_parts(_PERCENT[language]))} = {kind}", outcome]
    if luck < 0.26 and words in ("1,0", "0/1"):
        return [dice.choice(("logit", "log_odds", "linpred", "logit_score")) + " = logit", outcome]
    if luck < 0.36:
        first, second = (words if words != "0/1" else "1,0").split(",")
        prefix = dice.choice(("p_", "prob_", "P ", "proba."))
        return [f"{prefix}{first} = happens", f"{prefix}{second} = other", outcome]
    score = f"{dice.choice(_parts(_SCORES[language]))} = score:{dice.choice((2, 3, 4, 6))}"
    return [score, outcome]


def _classes(dice: random.Random) -> list[str]:
    """Draw columns of classes, or of the most probable class alone."""
    truth, luck = dice.choice(_parts(_TRUTHS)), dice.random()
    if luck < 0.25:
        predicted, confidence = dice.choice(_parts(_PREDICTED)), dice.choice(_parts(_CONFIDENCES))
        kind = dice.choice(("conf", "conf:2", "conf:6"))
        first = dice.choice(("", ":0", ":1"))
        return [
            f"{truth} = true{first}", f"{predicted} = pred{first}", f"{confidence} = {kind}"
        ]  # fmt: skip
    if luck < 0.35:
        heading, _, words = dice.choice(_parts(_CORRECT)).partition("|")
        kind = dice.choice(("conf", "confpercent"))
        name = "confidence_%" if kind == "confpercent" else dice.choice(_parts(_CONFIDENCES))
        return [f"{name} = {kind}", f"{heading} = correct:{words}"]
    numbered = luck < 0.55
    heading = dice.choice(_parts(_NUMBER_HEADINGS if numbered else _CLASS_HEADINGS))
    kind = "classlogit" if heading.endswith("!") else "class"
    if heading.endswith(")%"):
        kind, heading = "classpercent", heading[:-1]
    first = dice.choice((":0", ":1")) if numbered else ""
    start = first if numbered else ""
    results = [f"{heading.rstrip('!')} = {kind}{start}", f"{truth} = true{first}"]
    if dice.random() < 0.3 and heading != "*":
        results.append(f"{dice.choice(('pred', 'predicted_class', 'y_hat'))} = decided{first}")
    return results


def variants(seed: int, n_tables: int) -> Iterator[Ordinary]:
    """Yield tables of which no two are alike.

    Parameters
    ----------
    seed, n_tables : int
        Of what is drawn, and how many.
    """
    dice = random.Random(seed)  # noqa: S311 - not for secrets
    for number in range(n_tables):
        language = dice.choice(("en", "en", "en", "de", "fr", "es", "it", "nl", "pt"))
        names = dice.choice(_parts(_CLASSES)) if dice.random() < 0.3 else ""
        parts = _classes(dice) if names else _event(dice, language)
        taken = {part.split(" = ")[0].lower() for part in parts} | {"score", "rank"}
        parts += _beside(dice, language, taken)
        if dice.random() < 0.1:
            parts.append("split = set:" + dice.choice(("cal,test", "val,test", "calibration,test")))
        if dice.random() < 0.7:
            dice.shuffle(parts)
        sep = dice.choice((",", ";", "\t")) if language == "en" else dice.choice((";", ";", "\t"))
        yield make_table(
            f"{seed}-{number} {parts[0]}", " | ".join(parts), dice.choice((30, 60, 120, 250, 400)),
            sep=sep, comma=sep != "," and language != "en" and dice.random() < 0.8, classes=names,
            odd=dice.choice((None, None, None, "", "n/a", "-", "NA")),
            blanks=parts[-1].split(" = ")[0] if dice.random() < 0.2 else "",
        )  # fmt: skip
